"""The state of every web hook, as facts of the log.

    webhook           the hook was made, or goes on with another spuid
    webhook_message   a message to be delivered; every attempt sends exactly this message
    webhook_taken     the receiver has accepted the message
    webhook_resumed   the hook was resumed after a restart, without missed changes
    webhook_parked    delivery was given up for now; webhook_woken: it is tried again
    webhook_gone      the hook has ended

The gate writes a message to the log before it first sends it, so an id always means the same message.
"""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct, structs

from tidings.broker.durability.facts import Facts
from tidings.gates.webhooks.errors import UnknownWebhook
from tidings.log.entry import Note
from tidings.protocol.echo import Alias, Echo
from tidings.protocol.messages import Graphs, Subscribe

_MADE, _MESSAGE, _TAKEN = "webhook", "webhook_message", "webhook_taken"
_RESUMED, _PARKED, _WOKEN, _GONE = "webhook_resumed", "webhook_parked", "webhook_woken", "webhook_gone"


class Hook(Struct, frozen=True):
    """A web hook: its subscription and its receiver."""

    id: str
    url: str
    spuid: str
    sparql: str
    default: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    alias: Alias = None
    owner: str | None = None
    made: int = 0
    """In microseconds since 1970."""
    target: str | None = None
    """The resource whose inbox the URL is: then messages are Linked Data Notifications."""

    def asked(self) -> Subscribe:
        return Subscribe(self.sparql, Graphs(self.default, self.named), Echo(self.alias))


class Letter(Struct, frozen=True):
    """A message on its way, with the notification that it has."""

    number: int
    """The first of a hook has 1, the next one more."""
    sequence: int
    spuid: str
    """Whose sequence it is."""
    body: str
    since: int
    """When it was written, in microseconds since 1970."""


class Parked(Struct, frozen=True):
    """Why nothing is delivered any more, and since when."""

    since: int
    reason: str


class State(Struct, frozen=True):
    """A hook, and how far it is."""

    hook: Hook
    last: Letter | None = None
    """The last message that was written; without its body once it was taken."""
    taken: bool = True
    resumed: int = -1
    """The number that its subscription went on with after a restart, if it has that spuid still."""
    parked: Parked | None = None

    @property
    def letter(self) -> Letter | None:
        """What has not been taken yet."""
        return None if self.taken else self.last

    @property
    def number(self) -> int:
        """Of the last message that was written."""
        return 0 if self.last is None else self.last.number

    @property
    def sequence(self) -> int:
        """Of the last notification that was written as one, or that had nothing to tell; under another spuid, they are
        counted from the start."""
        last = self.last
        return max(self.resumed, last.sequence if last is not None and last.spuid == self.hook.spuid else -1)


class Hooks:
    """All of them; a keeper of facts."""

    KINDS = (_MADE, _MESSAGE, _TAKEN, _RESUMED, _PARKED, _WOKEN, _GONE)

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._states: dict[str, State] = {}

    def __len__(self) -> int:
        return len(self._states)

    def __iter__(self) -> Iterator[State]:
        return iter(list(self._states.values()))

    def find(self, name: str) -> State:
        """Raises UnknownWebhook."""
        state = self._states.get(name)
        if state is None:
            raise UnknownWebhook(f"there is no web hook {name[:100]}")
        return state

    # -- what happens, durable by the end -------------------------------------------------------------------------

    async def made(self, hook: Hook) -> None:
        await self._facts.write(Note(_MADE, msgspec.to_builtins(hook)))

    async def written(self, name: str, letter: Letter) -> None:
        await self._facts.write(Note(_MESSAGE, {"id": name, **msgspec.to_builtins(letter)}))

    async def taken(self, name: str, number: int) -> None:
        await self._facts.write(Note(_TAKEN, {"id": name, "number": number}))

    async def resumed(self, name: str, sequence: int) -> None:
        await self._facts.write(Note(_RESUMED, {"id": name, "sequence": sequence}))

    async def park(self, name: str, parked: Parked) -> None:
        await self._facts.write(Note(_PARKED, {"id": name, **msgspec.to_builtins(parked)}))

    async def wake(self, name: str) -> None:
        await self._facts.write(Note(_WOKEN, {"id": name}))

    async def end(self, name: str) -> None:
        await self._facts.write(Note(_GONE, {"id": name}))

    # -- for the facts ----------------------------------------------------------------------------------------------

    def restore(self, note: Note) -> None:
        content = note.content
        name = content["id"]
        state = self._states.get(name)
        if note.kind == _MADE:
            hook = msgspec.convert(content, Hook)
            self._states[name] = State(hook) if state is None else structs.replace(state, hook=hook, resumed=-1)
        elif state is not None:
            match note.kind:
                case "webhook_message":
                    state = structs.replace(state, last=msgspec.convert(content, Letter), taken=False)
                case "webhook_taken" if state.last is not None and state.number == content["number"]:
                    state = structs.replace(state, last=structs.replace(state.last, body=""), taken=True)
                case "webhook_resumed":
                    state = structs.replace(state, resumed=content["sequence"])
                case "webhook_parked":
                    state = structs.replace(state, parked=msgspec.convert(content, Parked))
                case "webhook_woken":
                    state = structs.replace(state, parked=None)
            self._states[name] = state
            if note.kind == _GONE:
                del self._states[name]

    def notes(self) -> Iterable[Note]:
        for state in self:
            name = state.hook.id
            yield Note(_MADE, msgspec.to_builtins(state.hook))
            if state.last is not None:
                yield Note(_MESSAGE, {"id": name, **msgspec.to_builtins(state.last)})
                if state.taken:
                    yield Note(_TAKEN, {"id": name, "number": state.number})
            if state.resumed >= 0:
                yield Note(_RESUMED, {"id": name, "sequence": state.resumed})
            if state.parked is not None:
                yield Note(_PARKED, {"id": name, **msgspec.to_builtins(state.parked)})
