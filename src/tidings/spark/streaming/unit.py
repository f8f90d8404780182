"""A unit: some subscriptions of one plan with the quads that concern them, kept up to date by the engine itself.

    context  <=  graph at that commit
    context  >=  the quads of the graph that the members' LUTT entries select

So the answer of a member over the context is the same as over the graph. Rows come to a unit in any order, and the unit
sorts them by commit. A new member brings its seed: the quads that concern it, after the commit with which it begins. If
the other members are ahead of that, it also brings the later changes, catches up alone, and then joins the others.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct, field

from tidings.engine.commit import Commit
from tidings.engine.engine import Engine
from tidings.engine.plans.spu import Subscription
from tidings.model.access import Graphs, Rights
from tidings.model.errors import ContextTooLarge, TidingsError
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Dataset
from tidings.sparql.evaluate.layout import Row

LARGEST = 1_000_000
"""The most quads of a unit, so that one task can keep them in memory."""
ENDED = "it was ended"
"""The reason in the last notification of a member that was ended; other reasons are those of failures."""


class Member(Struct, frozen=True, omit_defaults=True):
    """A subscription, as a unit needs it."""

    spuid: str
    text: str
    default: tuple[str, ...] | None = None
    named: tuple[str, ...] | None = None
    graphs: Graphs = Graphs.ALL
    """The graphs that it may see. Its query is planned, and changes are routed, as if no others existed."""

    @property
    def rights(self) -> Rights:
        return Rights(read=self.graphs, subscribe=self.graphs)

    @property
    def dataset(self) -> Dataset | None:
        return None if self.default is None and self.named is None else Dataset(self.default, self.named)


class Change(NamedTuple):
    """The change of a quad by a commit."""

    commit: int
    time: int
    quad: Quad
    weight: int


class Arrival(Struct):
    """Members that begin together after a commit, with the data that they need."""

    commit: int
    time: int
    members: list[Member] = field(default_factory=list)
    seed: list[Quad] = field(default_factory=list)
    past: list[Change] = field(default_factory=list)
    """The changes since that commit, if the other members are ahead of it."""


class Departure(NamedTuple):
    """A member that ends: after a commit, or now if the unit is past that commit."""

    commit: int
    version: int
    spuid: str


class Inbox(Struct):
    """The input of a unit for one batch, in no order."""

    changes: list[Change] = field(default_factory=list)
    arrivals: dict[int, Arrival] = field(default_factory=dict)
    """Arrivals by the version of the registry in which they begin."""
    departures: list[Departure] = field(default_factory=list)


class Notification(NamedTuple):
    """A notification to a subscriber. The first, with sequence 0, is the whole answer; the last one has a reason."""

    spuid: str
    sequence: int
    commit: int
    time: int
    variables: tuple[str, ...]
    added: list[Row]
    removed: list[Row]
    reason: str | None = None


class Record(Struct, array_like=True):
    """A whole unit, or its changes since the last record."""

    quads: list[tuple[Quad, int]]
    members: dict[str, tuple[Member, int] | None]
    """The members with their last sequences; None for a member that has ended."""
    now: int
    """The time of the last commit that it has processed."""


class Unit:
    """An engine over the quads that concern the members."""

    def __init__(self, *, largest: int = LARGEST) -> None:
        self._engine = Engine()
        self._subscriptions: dict[str, tuple[Member, Subscription]] = {}
        self._spuids: dict[int, str] = {}
        self._largest = largest
        self._changed: ZSet[Quad] = ZSet()
        self._touched: set[str] = set()

    @classmethod
    def of(cls, records: Iterable[Record], *, largest: int = LARGEST) -> "Unit":
        """The unit of these records, the oldest first."""
        unit = cls(largest=largest)
        members: dict[str, tuple[Member, int] | None] = {}
        for record in records:
            members |= record.members
            unit._engine.core.tell_time(record.now)
            unit._engine.core.store.apply(ZSet.owning(dict(record.quads)))
        for known in members.values():
            if known is not None:
                unit._resume(*known)
        return unit

    def record(self, *, whole: bool) -> Record:
        """A record of the whole unit, or of its changes since the last call."""
        changed, touched, self._changed, self._touched = self._changed, self._touched, ZSet(), set()
        now = self._engine.core.moment.now
        if whole:
            members = {spuid: self._known(spuid) for spuid in self._subscriptions}
            return Record([(quad, 1) for quad in self.quads()], members, now)
        return Record(list(changed.items()), {spuid: self._known(spuid) for spuid in touched}, now)

    def catch_up(self, records: Iterable[Record]) -> bool:
        """Apply records that another process has made, without notifications. False if that is not possible, because
        members have begun, ended or failed."""
        for record in records:
            if any(known is None or known[0].spuid not in self for known in record.members.values()):
                return False
            if self._engine.absorb(ZSet.owning(dict(record.quads)), now=record.now).failures:
                return False
            for known in record.members.values():
                if known is not None:
                    self._subscriptions[known[0].spuid][1].sequence = known[1]
        return True

    def _known(self, spuid: str) -> tuple[Member, int] | None:
        found = self._subscriptions.get(spuid)
        return None if found is None else (found[0], found[1].sequence)

    def __len__(self) -> int:
        """How many quads it has."""
        return len(self._engine.core.store)

    def quads(self) -> Iterator[Quad]:
        return iter(self._engine.core.store)

    def __contains__(self, spuid: object) -> bool:
        return spuid in self._subscriptions

    @property
    def members(self) -> int:
        return len(self._subscriptions)

    def _resume(self, member: Member, sequence: int) -> None:
        """Enter a member that has had its first answer, and notifications up to this sequence."""
        self._enter(member)
        self._subscriptions[member.spuid][1].sequence = sequence

    # -- input ------------------------------------------------------------------------------------------------------

    def take(self, inbox: Inbox) -> Iterator[Notification]:
        """Process an inbox, commit by commit. Yields the notifications."""
        # Members begin and end after their commits, and in the order of versions.
        turns: list[tuple[int, int, Arrival | Departure]] = [
            *((arrival.commit, version, arrival) for version, arrival in inbox.arrivals.items()),
            *((departure.commit, departure.version, departure) for departure in inbox.departures),
        ]
        turns.sort(key=lambda turn: turn[:2], reverse=True)
        now = self._engine.core.moment.now
        for commit, now, delta in _by_commit(inbox.changes):
            while turns and turns[-1][0] < commit:
                yield from self._turn(turns.pop()[2], now)
            yield from self._commit(commit, now, delta)
        while turns:
            yield from self._turn(turns.pop()[2], now)
        if inbox.departures:
            self._forget_unseen()

    def _turn(self, turn: Arrival | Departure, now: int) -> Iterator[Notification]:
        return self._arrive(turn) if isinstance(turn, Arrival) else self._depart(turn, now)

    def _commit(self, commit: int, time: int, delta: dict[Quad, int]) -> Iterator[Notification]:
        store = self._engine.core.store
        if not self._subscriptions:
            self._forget_unseen()  # the next member brings all quads that it needs
            return
        exact = ZSet.owning({quad: weight for quad, weight in delta.items() if (quad in store) == (weight < 0)})
        if not exact:
            return
        self._changed.absorb(exact)
        yield from self._notify(self._engine.absorb(exact, now=time), commit, time)
        if len(store) > self._largest:
            yield from self._give_up(commit, time)

    def _notify(self, done: Commit, commit: int, time: int) -> Iterator[Notification]:
        for change in done.notifications:
            subscription, changes = change.subscription, change.changes
            added, removed = list(changes.added()), list(changes.removed())
            spuid = self._spuids[subscription.id]
            self._touched.add(spuid)
            yield Notification(
                spuid,
                change.sequence,
                commit,
                time,
                subscription.variables,
                added,
                removed,
            )
        for failure in done.failures:
            for subscription in failure.subscriptions:
                spuid = self._spuids.pop(subscription.id)
                del self._subscriptions[spuid]
                self._touched.add(spuid)
                yield _last(spuid, subscription, commit, time, f"its query failed: {failure.error}")

    # -- members that begin and end ---------------------------------------------------------------------------------

    def _arrive(self, arrival: Arrival) -> Iterator[Notification]:
        if arrival.past:
            yield from self._catch_up(arrival)
            return
        self._learn(arrival.seed)
        self._engine.core.tell_time(arrival.time)
        for member in arrival.members:
            yield self._begin(member, arrival)
        if len(self) > self._largest:
            yield from self._give_up(arrival.commit, arrival.time)

    def _begin(self, member: Member, arrival: Arrival) -> Notification:
        try:
            answer = self._enter(member)
        except TidingsError as error:
            return Notification(member.spuid, 0, arrival.commit, arrival.time, (), [], [], f"its query failed: {error}")
        variables = self._subscriptions[member.spuid][1].variables
        return Notification(member.spuid, 0, arrival.commit, arrival.time, variables, answer, [])

    def _catch_up(self, arrival: Arrival) -> Iterator[Notification]:
        alone = Unit(largest=self._largest)
        first = Arrival(arrival.commit, arrival.time, arrival.members, arrival.seed)
        yield from alone.take(Inbox(arrival.past, {0: first}))
        self._learn(alone.quads())
        moment = self._engine.core.moment
        moment.now = max(moment.now, alone._engine.core.moment.now)
        for member, subscription in alone._subscriptions.values():
            self._resume(member, subscription.sequence)

    def _enter(self, member: Member) -> list[Row]:
        engine = self._engine
        now = engine.core.moment.now
        subscription, answer = engine.subscribe(member.text, member.dataset, now=now, rights=member.rights)
        self._subscriptions[member.spuid] = member, subscription
        self._spuids[subscription.id] = member.spuid
        self._touched.add(member.spuid)
        return answer

    def _learn(self, quads: Iterable[Quad]) -> None:
        """Add quads that the graph has had before. They do not concern the present members."""
        store = self._engine.core.store
        for quad in quads:
            if store.add(*quad):
                self._changed.add(quad)

    def _depart(self, departure: Departure, time: int) -> Iterator[Notification]:
        found = self._subscriptions.pop(departure.spuid, None)
        if found is None:
            return  # it failed before
        _, subscription = found
        self._touched.add(departure.spuid)
        del self._spuids[subscription.id]
        self._engine.unsubscribe(subscription.id)
        yield _last(departure.spuid, subscription, departure.commit, time, ENDED)

    def _forget_unseen(self) -> None:
        """Remove the quads that concern no member any more: the unit would not learn of their removal."""
        store = self._engine.core.store
        for quad in [quad for quad in store if not self._engine.concerns(quad)]:
            store.remove(*quad)
            self._changed.add(quad, -1)

    def _give_up(self, commit: int, time: int) -> Iterator[Notification]:
        """End all members, and remove the quads, because one task cannot keep so many in memory."""
        said = f"{len(self):,} quads concern it, and a task keeps {self._largest:,} at most"
        error = ContextTooLarge(said, self._largest)
        for spuid, (_, subscription) in self._subscriptions.items():
            yield _last(spuid, subscription, commit, time, str(error))
        self._touched.update(self._subscriptions)
        for quad in self.quads():
            self._changed.add(quad, -1)
        self._engine = Engine()
        self._subscriptions.clear()
        self._spuids.clear()


def _last(spuid: str, subscription: Subscription, commit: int, time: int, reason: str) -> Notification:
    return Notification(spuid, subscription.sequence + 1, commit, time, subscription.variables, [], [], reason)


def _by_commit(changes: list[Change]) -> list[tuple[int, int, dict[Quad, int]]]:
    """Changes in the order of commits. A quad may occur twice, because of two entries of the LUTT."""
    found: dict[int, tuple[int, dict[Quad, int]]] = {}
    for commit, time, quad, weight in changes:
        known = found.get(commit)
        if known is None:
            known = found[commit] = time, {}
        known[1][quad] = weight
    return [(commit, *found[commit]) for commit in sorted(found)]
