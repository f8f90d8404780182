"""One subscription as its client knows it: its sequence, its recent notifications, and the changes that wait.

Each change of the answer gets the next sequence. The broker retains recent notifications, because a client that resumes
tells which sequence it saw last. While the connection is full, the broker does not number changes, but adds them up as
Z-sets; when there is room again, the sum becomes one notification.

    pending   the sum of the changes that wait for room        retained   recent notifications with their sequences
"""

from collections import deque
from collections.abc import Callable
from typing import NamedTuple, NewType, Protocol, TypeAlias

from msgspec import Struct

from tidings.engine.plans.spu import Subscription
from tidings.model.access import Rights
from tidings.model.errors import TidingsError
from tidings.model.results import Row
from tidings.model.zset import ZSet
from tidings.protocol import echo
from tidings.sparql.algebra import Dataset

Spuid = NewType("Spuid", str)
SessionId = NewType("SessionId", int)

Alias: TypeAlias = echo.Alias
"""The name that a client gives to a request; answers echo it."""

UNKNOWN = -1
"""The sequence of a subscriber if the broker does not know what its client has seen."""


class Reached(NamedTuple):
    """How far a subscriber has got the notifications of an external engine."""

    batch: int
    """It has got all batches up to this one."""
    commit: int
    """Of the next batch, it has got the changes up to this commit; -1 before the first answer."""


class Parcel:
    """One change of an answer, shared by all subscribers with the same answer. Gates cache their encodings in it."""

    __slots__ = ("changes", "commit", "encodings", "merged", "reason", "rows", "time", "turn", "variables")

    def __init__(
        self,
        commit: int,
        time: int,
        variables: tuple[str, ...],
        changes: ZSet[Row],
        *,
        merged: int = 1,
        reason: str | None = None,
        turn: int = 0,
    ) -> None:
        self.commit = commit
        self.time = time
        self.variables = variables
        self.changes = changes
        self.rows = len(changes)
        self.merged = merged
        """How many changes were added up."""
        self.reason = reason
        """Why the answer changed, if not because of the data: the rights of the subscriber have changed."""
        self.turn = turn
        """For a change without a commit of its own, the subscriber's `turns`: orders changes after the same commit."""
        self.encodings: dict[Encoder, bytes] = {}
        """The encoded change for each wire format, by the function that encodes it."""

    def __add__(self, later: "Parcel") -> "Parcel":
        changes = self.changes + later.changes
        merged, reason = self.merged + later.merged, later.reason or self.reason
        return Parcel(
            later.commit,
            later.time,
            later.variables,
            changes,
            merged=merged,
            reason=reason,
            turn=later.turn or self.turn,
        )


Encoder: TypeAlias = Callable[[Parcel], bytes]
"""A function of a gate that encodes the part that all notifications of a change have in common."""


class ClientLink(Protocol):
    """The connection to a client, which a gate provides. No method blocks or raises."""

    def deliver(self, subscriber: "Subscriber", sequence: int, parcel: Parcel) -> None:
        """Send a notification."""

    def dismiss(self, subscriber: "Subscriber", reason: str, code: int) -> None:
        """Tell the client that a subscription has ended, and why. A connection that carries only this subscription is
        closed with the code; on any other, the other subscriptions go on."""

    def close(self, code: int, reason: str) -> None:
        """Close the connection."""


class Origin(Struct, frozen=True):
    """The gate and the address of a connection, for the list of connections."""

    gate: str
    address: str | None = None
    waiting: Callable[[], int] | None = None
    """Returns how many bytes the client has not taken yet, if the gate knows."""


class Session:
    """One connection of a client, with its subscriptions. The gate says when it is full."""

    __slots__ = ("client", "full", "id", "link", "open", "origin", "owed", "since", "subjects", "subscribers")

    def __init__(self, number: SessionId, link: ClientLink, client: str | None = None, since: int = 0) -> None:
        self.id = number
        self.link = link
        self.client = client
        """The client whose share of the forks its work takes, for subscriptions without an owner."""
        self.since = since
        """When it began, in microseconds since 1970."""
        self.origin: Origin | None = None
        """The gate sets it; None for a session that lasts only as long as a request."""
        self.subjects: dict[str, None] = {}
        """The subjects that have subscribed over this connection."""
        self.full = False
        self.open = True
        """False once the connection is being closed: nothing is sent any more."""
        self.subscribers: dict[Spuid, Subscriber] = {}
        self.owed: dict[Subscriber, None] = {}
        """The subscribers with pending changes."""

    def attend(self, subject: str | None) -> None:
        """A subject subscribes over this connection."""
        if subject is not None:
            self.subjects[subject] = None


class Subscriber:
    """A subscription as its client knows it."""

    __slots__ = (
        "alias",
        "dataset",
        "flushing",
        "handle",
        "head",
        "held",
        "left",
        "owner",
        "pending",
        "reached",
        "retained",
        "rights",
        "sequence",
        "session",
        "spuid",
        "text",
        "turn",
        "turns",
    )

    def __init__(
        self,
        spuid: Spuid,
        text: str,
        dataset: Dataset | None,
        alias: Alias,
        rights: Rights,
        handle: Subscription,
        owner: str | None = None,
    ) -> None:
        self.spuid = spuid
        self.text = text
        self.dataset = dataset
        self.alias = alias
        self.rights = rights
        """The answer comes from the graphs to which these rights let it subscribe."""
        self.owner = owner
        """The subject that owns the subscription; None if its client showed no token."""
        self.handle = handle
        self.session: Session | None = None
        self.left = 0.0
        """When its client left, if it has no session."""
        self.sequence = 0
        self.retained: deque[tuple[int, Parcel]] | None = None
        self.held = 0
        """How many rows the retained notifications have."""
        self.pending: Parcel | None = None
        self.reached: Reached | None = None
        """How far the external engine's notifications were sent; None without an external engine."""
        self.turns = 0
        """How often its answer has changed without a commit of its own: by its rights, or by matched events."""
        self.turn = 0
        """The last of these changes that is numbered, or a part of a numbered change."""
        self.flushing = False
        """Whether an anchor is being made durable; until then, nothing later may be sent."""
        self.head: bytes | None = None
        """The encoded beginning of its notifications, which the gate caches here."""

    def rename(self, alias: Alias) -> None:
        """Take over the alias of a request that resumes the subscription."""
        if alias is not None and alias != self.alias:
            self.alias, self.head = alias, None

    def number(self, parcel: Parcel, retain: int, most_rows: int) -> int:
        """Give a change the next sequence, and retain it within the limits."""
        number = self.sequence
        if number == UNKNOWN:
            return UNKNOWN
        self.sequence = number = number + 1
        if parcel.turn:
            self.turn = parcel.turn
        retained = self.retained
        if retained is None:
            retained = self.retained = deque()
        retained.append((number, parcel))
        self.held = held = self.held + parcel.rows
        if held > most_rows or len(retained) > retain:
            while retained and (held > most_rows or len(retained) > retain):
                held -= retained.popleft()[1].rows
            self.held = held
        return number

    def missed(self, sequence: int) -> list[Parcel] | None:
        """The changes after a sequence; None if they are not retained, or there was no such sequence."""
        retained = self.retained or ()
        if not self.sequence - len(retained) <= sequence <= self.sequence or self.sequence == UNKNOWN:
            return None
        return [parcel for number, parcel in retained if number > sequence]

    def anchor(self, sequence: int, commit: int, turn: int = 0) -> None:
        """Restore an anchor: after this commit and this turn, the subscriber was at this sequence."""
        later = [parcel for _, parcel in self.retained or () if (parcel.commit, parcel.turn) > (commit, turn)]
        if self.reached is not None:
            self.reached = self.reached._replace(commit=commit)
        self.begin_at(sequence)
        for parcel in later:
            self.number(parcel, len(later), sum(each.rows for each in later))

    def forget(self) -> None:
        """The broker does not know any more what the client has seen: it needs a fresh answer."""
        self.begin_at(UNKNOWN)

    def begin_at(self, sequence: int) -> None:
        """Go on from this sequence, with no notifications retained."""
        self.sequence = sequence
        self.retained = None
        self.held = 0


Answered: TypeAlias = Callable[[Subscriber, Parcel, bool], None]
"""Called with a subscription, its first answer or the changes that the client missed, and whether it was resumed."""
Refused: TypeAlias = Callable[[TidingsError], None]
