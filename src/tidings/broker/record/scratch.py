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
from tidings.engine.updates.operations import Operations
from tidings.model.access import Rights
from tidings.model.terms import Quad, is_tagged
from tidings.model.zset import ZSet


class Scratch:
    """Begins with the states after the commits on their way; fetches at most `most` quads at a time.

    Most updates only need the states of single quads, for which a dict is enough. Filling a store takes 4 µs for each
    change, so there is none until something has to be evaluated, or a literal has a language tag, whose spelling only a
    store resolves."""

    def __init__(self, record: AskedStore, most: int, states: States) -> None:
        self._record = record
        self._most = most
        self._known = dict(states)
        self._store: Store | None = None
        self._changes = list(states)
        self._subjects = {quad[0] for quad in states}
        self._changed: Store | None = None
        """The changed quads as a store, once a pattern has to be matched with them."""
        self._look(states)

    @property
    def store(self) -> Store:
        """All quads that are known to be there."""
        if self._store is None:
            return self._begin_store()
        return self._store

    def _begin_store(self) -> Store:
        store = self._store = Store(quad for quad, there in self._known.items() if there)
        return store

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
            found = await self._record.select(keys, self._most)
            if self._store is None:
                self._begin_store()
            self._note(dict.fromkeys(found, True))

    def _note(self, states: States) -> None:
        known, store = self._known, self._store
        for quad, there in states.items():
            if quad not in known:
                known[quad] = there
                if there and store is not None:
                    store.add(*quad)
        self._look(states)

    def _look(self, quads: Iterable[Quad]) -> None:
        if self._store is None and any(is_tagged(quad[2]) for quad in quads):
            self._begin_store()

    def change(self, instances: Instances, rights: Rights) -> ZSet[Quad]:
        """The exact effect of an update, all instances of which are known."""
        self._look(instances.delete)
        self._look(instances.insert)
        if self._store is not None or not rights.write.everything:
            return Operations(self.store).change(instances.delete, instances.insert, rights)
        known, inserted = self._known, dict.fromkeys(instances.insert)
        weights = {quad: -1 for quad in instances.delete if quad not in inserted and known[quad]}
        weights |= {quad: 1 for quad in inserted if not known[quad]}
        return ZSet.owning(weights)

    def apply(self, delta: ZSet[Quad]) -> None:
        """An update has changed this, which the store of record does not know yet."""
        if self._store is not None:
            self._store.apply(delta)
        for quad, weight in delta.items():
            self._known[quad] = weight > 0
            self._changes.append(quad)
            self._subjects.add(quad[0])
            if self._changed is not None:
                self._changed.add(*quad)
        self._look(quad for quad, _ in delta.items())

    def differs(self, keys: Iterable[Key]) -> bool:
        """Whether the store of record may hold something else of what these patterns select."""
        keys = [key for key in keys if key[0] is None or key[0] in self._subjects]
        if not keys or not self._changes:
            return False
        if self._changed is None:
            self._changed = Store(self._changes)
        return any(next(matching(self._changed, loose(key)), None) for key in keys)


def loose(key: Key) -> Key:
    """The pattern with any object in place of a literal, which the store may spell differently."""
    s, p, o, g = key
    return (s, p, None, g) if o is not None and o[0] == '"' else key
