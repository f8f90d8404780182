"""A newcomer is a subscription whose first answer a fork finds. It adds up the changes meanwhile, and then catches up.

    broker    at commit c, enters it in the LUTT          fork   admits the member, within the limits
              adds up the quads D that hit its routes            packs the answer, and the state of the plan
              unpacks the state                           <-
              catches up:  answer at c  ->  answer now, by one delta D

It catches up in a plan of its own, so that the other subscribers of the shared plan get no change twice.
"""

from collections.abc import Iterator

from msgspec import Struct

from tidings.engine.operators.base import Changes, Hits, Route
from tidings.engine.plans.plan_cache import Maker
from tidings.engine.plans.spu import Spu, Subscribers
from tidings.engine.store.before import Before
from tidings.model.access import Rights
from tidings.model.terms import Quad, fold, is_tagged
from tidings.model.zset import ZSet, absorb
from tidings.sparql.algebra import Dataset
from tidings.sparql.evaluate.context import Limits, Meter
from tidings.sparql.evaluate.layout import Row
from tidings.sparql.evaluate.query import within


class SubscriptionQuery(Struct, frozen=True):
    """The query to be subscribed to."""

    text: str
    dataset: Dataset | None
    rights: Rights


class Beginning(Struct, frozen=True):
    """The outcome of the fork for a newcomer."""

    answer: list[Row]
    memories: list[list[bytes]]
    """The content of each memory of its plan, in portions."""


class Newcomer:
    """A future member of a plan. It adds up at most `most` changed quads."""

    __slots__ = (
        "_is_too_much",
        "_make",
        "_most",
        "_plan",
        "_sums",
        "hit",
        "member",
        "members",
        "query",
        "shared",
        "since",
        "variables",
    )

    def __init__(
        self, query: SubscriptionQuery, variables: tuple[str, ...], member: Row, shared: Spu, make: Maker, plan: Spu,
        most: int, since: int,
    ) -> None:  # fmt: skip
        self.query = query
        self.variables = variables
        self.member = member
        self.members: dict[Row, Subscribers] = {}
        """Empty: it has no subscribers yet."""
        self.shared = shared
        """The plan of which it will be a member."""
        self._make = make
        self._plan = plan
        """A plan of its own until then."""
        self._sums: dict[Route, dict[Quad, int]] = {}
        self._most = most
        self.since = since
        """The instant of its first answer."""
        self.hit = False
        """Whether any commit may have concerned it."""
        self._is_too_much = False

    # -- the LUTT -----------------------------------------------------------------------------------------------

    @property
    def dataset(self) -> Dataset:
        return self._plan.dataset

    @property
    def routes(self) -> tuple[Route, ...]:
        return self._plan.routes

    @property
    def meter(self) -> Meter:
        return self._plan.meter

    def key(self, route: Route, member: Row) -> tuple[str | None, str | None, str | None]:
        return self._plan.key(route, member)

    def is_own(self, route: Route) -> bool:
        return self._plan.is_own(route)

    def concerned(self, hits: Hits) -> int:
        return 0

    def advance(self, hits: Hits) -> dict[Row, Changes]:
        """Add up the quads that hit its routes. There are no changes to send yet."""
        self.hit = True
        if not self._is_too_much:
            for route, items in hits.items():
                absorb(self._sums.setdefault(route, {}), items)
            if sum(map(len, self._sums.values())) > self._most:
                self._is_too_much = True
                self._sums.clear()
        return {}

    # -- in the fork --------------------------------------------------------------------------------------------

    def begin(self, limits: Limits) -> Beginning:
        """Find its first answer and the state of its plan, within limits."""
        plan = self._make(limits)
        answer = list(within(plan.admit(self.member), limits))
        return Beginning(answer, [memory.packed(key) for memory, key in plan.memories(self.member)])

    # -- in the broker ------------------------------------------------------------------------------------------

    def take(self, packed: list[list[bytes]]) -> Iterator[int]:
        """Unpack the state that a fork has found, a portion at each step. Yields the number of items in each."""
        for (memory, key), portions in zip(self._plan.memories(self.member), packed, strict=True):
            memory.begin(key)
            for portion in portions:
                yield memory.take(key, portion)
            memory.complete(key)

    def is_outdated(self) -> bool:
        """Whether no valid delta leads from its first answer to the present one, so that the answer is useless.

        This is so if too much has changed, or if a language-tagged literal was removed and added in another spelling:
        no single commit does that, and operators take both spellings for the same term.
        """
        tagged = {quad[2] for sums in self._sums.values() for quad in sums if is_tagged(quad[2])}
        return self._is_too_much or len({fold(literal) for literal in tagged}) < len(tagged)

    def catch_up(self, before: Before, present: Spu | None) -> Changes:
        """The change of its answer since the first one. The state must have been unpacked."""
        assert not self.is_outdated()
        plan, member = self._plan, self.member
        plan.seat(member)
        plan.members[member] = {}
        changed: dict[Quad, int] = {}
        for sums in self._sums.values():
            changed.update(sums)
        before.begin(ZSet.owning(changed))
        hits: Hits = {route: list(sums.items()) for route, sums in self._sums.items() if sums}
        return plan.catch_up(member, hits if self.hit else None, present)

    def move_in(self, spu: Spu) -> None:
        """Hand the state over to the shared plan."""
        member = self.member
        for (mine, key), (theirs, _) in zip(self._plan.memories(member), spu.memories(member), strict=True):
            mine.hand_over(key, theirs)
        spu.seat(member)
