"""A subscription whose first answer is being found in a fork: what changes meanwhile is added up, and caught up with.

    here      at commit c, the LUTT leads to it           fork   admits the member, within the limits
              adds up the quads that hit its routes, D           packs the answer, and what has to be remembered
              takes up what is to be remembered                  <-
              catches up:  answer at c  ->  answer now, by one delta D

The catching up happens in a plan of its own, so that nobody else is told anything twice.
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


class Wish(Struct, frozen=True):
    """What is to be subscribed."""

    text: str
    dataset: Dataset | None
    rights: Rights


class Beginning(Struct, frozen=True):
    """What a fork finds for a newcomer."""

    answer: list[Row]
    memories: list[list[bytes]]
    """In portions, what each memory of its plan has to know."""


class Newcomer:
    """One member of a plan to be. Of what changes, it adds up `most` quads."""

    __slots__ = (
        "_is_too_much",
        "_make",
        "_most",
        "_plan",
        "_sums",
        "hit",
        "member",
        "members",
        "shared",
        "since",
        "variables",
        "wish",
    )

    def __init__(
        self, wish: Wish, variables: tuple[str, ...], member: Row, shared: Spu, make: Maker, plan: Spu, most: int,
        since: int,
    ) -> None:  # fmt: skip
        self.wish = wish
        self.variables = variables
        self.member = member
        self.members: dict[Row, Subscribers] = {}
        """It has no subscribers yet."""
        self.shared = shared
        """The plan that it is going to be a member of."""
        self._make = make
        self._plan = plan
        """One of its own until then."""
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
        """Add up what hit its routes; nobody is told yet."""
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
        """Its first answer, and all that has to be remembered of it, found within limits."""
        plan = self._make(limits)
        answer = list(within(plan.admit(self.member), limits))
        return Beginning(answer, [memory.packed(key) for memory, key in plan.memories(self.member)])

    # -- here ---------------------------------------------------------------------------------------------------

    def take(self, packed: list[list[bytes]]) -> Iterator[int]:
        """Take up what a fork has found, a portion at each step; how many items it had."""
        for (memory, key), portions in zip(self._plan.memories(self.member), packed, strict=True):
            memory.begin(key)
            for portion in portions:
                yield memory.take(key, portion)
            memory.complete(key)

    def is_outdated(self) -> bool:
        """Whether its first answer is of no use any more: no one delta leads from it to the answer now.

        That is so when more has changed than is added up, and when a language-tagged literal went and came back in
        another spelling: one commit never does that, and operators take both spellings for the same term.
        """
        tagged = {quad[2] for sums in self._sums.values() for quad in sums if is_tagged(quad[2])}
        return self._is_too_much or len({fold(literal) for literal in tagged}) < len(tagged)

    def catch_up(self, before: Before, present: Spu | None) -> Changes:
        """Once all is taken up: the change of its answer since."""
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
        """Give a plan that is shared everything that is remembered."""
        member = self.member
        for (mine, key), (theirs, _) in zip(self._plan.memories(member), spu.memories(member), strict=True):
            mine.hand_over(key, theirs)
        spu.seat(member)
