"""What the broker knows of a graph at the store of record while it works out updates: the quads that they depend on.

    there(quad) = according to the last commit on its way to the store, or else to the store itself

The broker asks for each quad once. It also notes the quads that have changed since it asked, to find the updates that
depend on them.
"""

from collections.abc import Collection, Iterable, Sequence

from tidings.broker.record.instances import Instances
from tidings.broker.record.seam import AskedStore, States
from tidings.engine.contexts import matching
from tidings.engine.lutt import Key
from tidings.engine.store.store import Store
from tidings.model.terms import Quad
from tidings.model.zset import ZSet


class Scratch:
    """Begins with the states after the commits on their way; fetches at most `most` quads at a time."""

    def __init__(self, record: AskedStore, most: int, states: States) -> None:
        self._record = record
        self._most = most
        self.store = Store(quad for quad, there in states.items() if there)
        self._known = set(states)
        self._changed = Store(states)

    async def ask(self, instances: Sequence[Instances]) -> None:
        """Ask the store which of these quads exist. If it cannot be asked about a quad, assume that the quad
        changes."""
        for each in instances:
            self._note(each.states)
        known = self._known
        states = {quad: True for each in instances for quad in each.delete if quad not in known}
        states |= {quad: False for each in instances for quad in each.insert if quad not in known}
        if states:
            for quad in await self._record.lacking(states):
                states[quad] = not states[quad]
            self._note(states)

    async def fetch(self, keys: Collection[Key]) -> None:
        """Fetch all quads that these patterns select."""
        if keys:
            self._note(dict.fromkeys(await self._record.select(keys, self._most), True))

    def _note(self, states: States) -> None:
        for quad, there in states.items():
            if there and quad not in self._known:
                self.store.add(*quad)
        self._known.update(states)

    def apply(self, delta: ZSet[Quad]) -> None:
        """Apply the delta of an update that the store of record does not have yet."""
        self.store.apply(delta)
        for s, p, o, g in (*delta.added(), *delta.removed()):
            self._known.add((s, p, o, g))
            self._changed.add(s, p, o, g)

    def differs(self, keys: Iterable[Key]) -> bool:
        """Whether the store of record may differ in the quads that these patterns select."""
        if not len(self._changed):
            return False
        return any(next(matching(self._changed, loose(key)), None) for key in keys)


def loose(key: Key) -> Key:
    """The pattern with any object in place of a literal, which the store may spell differently."""
    s, p, o, g = key
    return (s, p, None, g) if o is not None and o[0] == '"' else key
