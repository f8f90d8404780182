"""Who is owed what: the outbox of one subscription, and what of it can still be told again.

Every change of the answer gets the next number and is kept for a while after it was sent, because a client that comes
back says which number it saw last. While its connection is full, changes are not numbered but added up, as Z-sets
add: when there is room again they are one notification, fewer and never wrong.

    pending   changes that wait for room, added up        retained   what was numbered lately
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
"""What a client calls a request; it is echoed as it came."""

UNKNOWN = -1
"""The number of a subscriber of whom it is not known what it has seen."""


class Reached(NamedTuple):
    """How far a subscriber was told of what an external engine works out."""

    batch: int
    """Every batch up to this one was told."""
    commit: int
    """And of the next, what changed up to this commit; before the first answer, -1."""


class Parcel:
    """One change of an answer, shared by all subscribers with the same answer; gates note their encodings on it."""

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
        """Why the answer changed, if that was not the data: its subscriber may see other graphs than before."""
        self.turn = turn
        """The number of that change of rights; of two changes with one commit, the later has the greater one."""
        self.encodings: dict[Encoder, bytes] = {}
        """One for each wire format, by the function that makes it."""

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
"""How a gate writes what all notifications of a change have in common."""


class ClientLink(Protocol):
    """The way to a client, as a gate provides it. Nothing here waits, and nothing raises."""

    def deliver(self, subscriber: "Subscriber", sequence: int, parcel: Parcel) -> None:
        """Send a notification."""

    def dismiss(self, subscriber: "Subscriber", reason: str, code: int) -> None:
        """Say that a subscription has ended, and why. Other subscriptions of the connection go on; one that is nothing
        but this subscription is closed with the code."""

    def close(self, code: int, reason: str) -> None:
        """Close the connection."""


class Origin(Struct, frozen=True):
    """Where a client that stays comes from, for those who run the broker."""

    gate: str
    address: str | None = None
    waiting: Callable[[], int] | None = None
    """Asks its gate how many bytes it has not taken yet, where the gate knows."""


class Session:
    """One connection of a client and the subscriptions that it has; its gate says when it is full."""

    __slots__ = ("client", "full", "id", "link", "open", "origin", "owed", "since", "subjects", "subscribers")

    def __init__(self, number: SessionId, link: ClientLink, client: str | None = None, since: int = 0) -> None:
        self.id = number
        self.link = link
        self.client = client
        """Whose share its long work takes, as far as nobody owns it."""
        self.since = since
        """When it began, in microseconds since 1970."""
        self.origin: Origin | None = None
        """Set by its gate; None if it lasts no longer than a request."""
        self.subjects: dict[str, None] = {}
        """Who has subscribed over it, as far as they were asked who they are."""
        self.full = False
        self.open = True
        """Whether it is worth sending anything."""
        self.subscribers: dict[Spuid, Subscriber] = {}
        self.owed: dict[Subscriber, None] = {}
        """Those that have something pending."""

    def attend(self, subject: str | None) -> None:
        """Somebody subscribes over it."""
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
        """Its answer is of the graphs that these let it subscribe to."""
        self.owner = owner
        """The subject whose it is, if that was established."""
        self.handle = handle
        self.session: Session | None = None
        self.left = 0.0
        """When its client was last seen, if it has no session."""
        self.sequence = 0
        self.retained: deque[tuple[int, Parcel]] | None = None
        self.held = 0
        """Rows in what is retained."""
        self.pending: Parcel | None = None
        self.reached: Reached | None = None
        """None if its answer is worked out here."""
        self.turns = 0
        """How often its rights have changed."""
        self.turn = 0
        """The last change of its rights that has a number, or is a part of something that has."""
        self.flushing = False
        """Whether a number is being made durable; until then nothing later may be sent."""
        self.head: bytes | None = None
        """For the gate: how its notifications begin."""

    def rename(self, alias: Alias) -> None:
        """Its client calls it otherwise from now on."""
        if alias is not None and alias != self.alias:
            self.alias, self.head = alias, None

    def number(self, parcel: Parcel, retain: int, most_rows: int) -> int:
        """Give a change the next number, and keep it for a while."""
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
        """What was numbered after a number; None if that is no longer known, or never was given out."""
        retained = self.retained or ()
        if not self.sequence - len(retained) <= sequence <= self.sequence or self.sequence == UNKNOWN:
            return None
        return [parcel for number, parcel in retained if number > sequence]

    def anchor(self, sequence: int, commit: int, turn: int = 0) -> None:
        """With a commit, and a change of rights, the subscriber was at this number, whatever was counted: changes had
        been added up."""
        later = [parcel for _, parcel in self.retained or () if (parcel.commit, parcel.turn) > (commit, turn)]
        if self.reached is not None:
            self.reached = self.reached._replace(commit=commit)
        self.begin_at(sequence)
        for parcel in later:
            self.number(parcel, len(later), sum(each.rows for each in later))

    def forget(self) -> None:
        """It can no longer be told what its client has seen: only a fresh answer will do."""
        self.begin_at(UNKNOWN)

    def begin_at(self, sequence: int) -> None:
        """It is at this number, and nothing before it can be told again."""
        self.sequence = sequence
        self.retained = None
        self.held = 0


Answered: TypeAlias = Callable[[Subscriber, Parcel, bool], None]
"""How a new or resumed subscription is answered: its first parcel, and whether it goes on where it was."""
Refused: TypeAlias = Callable[[TidingsError], None]
