"""Assigns a unit to each subscription, and writes it into the registry. There is one registrar, in the driver.

Equal subscriptions share a unit, and so the work. Subscriptions that differ only in constants share the plan, but a
unit only with some of the others, because all of them may be too many for one task. Subscriptions to different graphs
have different plans, and so different units.
"""

from collections.abc import Iterable, Mapping

from tidings.engine.engine import Engine
from tidings.engine.plans.spu import Spu, Subscription
from tidings.model.errors import TidingsError
from tidings.spark.streaming.errors import DependsOnChance
from tidings.spark.streaming.subscriptions.registry import Begin, End, Registry
from tidings.spark.streaming.unit import Member
from tidings.sparql.algebra import Call, Expression, every_expression, operands
from tidings.sparql.evaluate.layout import Row
from tidings.sparql.parser import parse_query

TOGETHER = 64
"""The most different questions of a plan in one unit."""
AT_ONCE = 20_000
"""The most commands of a version, which one task reads."""


class Registrar:
    """The present members, with their units."""

    def __init__(self, registry: Registry, *, together: int = TOGETHER) -> None:
        self.registry = registry
        self._together = together
        self._engine = Engine()
        self._members: dict[str, tuple[Member, Subscription, int]] = {}
        self._units = 0
        self._shared: dict[tuple[Spu, Row], tuple[int, int]] = {}
        """For each question (a plan and its constants), its unit and how many members have it."""
        self._open: dict[Spu, tuple[int, int]] = {}
        """For each plan, the unit that takes further questions, and how many it has taken."""
        for _, commands in registry.everything():
            for command in commands:
                match command:
                    case Begin(unit, member):
                        self._enter(member, unit)
                    case End(_, spuid, _):
                        self._leave(spuid)

    def members(self) -> Mapping[str, Member]:
        return {spuid: member for spuid, (member, _, _) in self._members.items()}

    def begin(self, members: Iterable[Member]) -> tuple[list[Begin], dict[str, TidingsError]]:
        """Assign units to new members. Returns also the errors of those that cannot begin."""
        begun: list[Begin] = []
        wrong: dict[str, TidingsError] = {}
        for member in members:
            try:
                begun.append(Begin(self._enter(member), member))
            except TidingsError as error:
                wrong[member.spuid] = error
        return begun, wrong

    def end(self, spuids: Iterable[str], commit: int) -> list[End]:
        return [End(self._leave(spuid), spuid, commit) for spuid in spuids]

    def _enter(self, member: Member, unit: int | None = None) -> int:
        """Add a member, to the given unit (from the registry), or to a suitable one. Returns its unit."""
        engine = self._engine
        subscription, _ = engine.subscribe(member.text, member.dataset, now=0, rights=member.rights)
        if unit is None and engine.depends_on_chance(subscription) and asks_for_chance(member.text):
            engine.unsubscribe(subscription.id)
            raise DependsOnChance
        plan, question = subscription.spu, (subscription.spu, subscription.member)
        shared, askers = self._shared.get(question, (None, 0))
        if unit is None:
            unit = self._room(plan) if shared is None else shared
        if shared is None and (plan not in self._open or self._open[plan][0] != unit):
            self._open[plan] = unit, 0
        if shared is None:
            self._open[plan] = unit, self._open[plan][1] + 1
        self._shared[question] = unit, askers + 1
        self._units = max(self._units, unit)
        self._members[member.spuid] = member, subscription, unit
        return unit

    def _room(self, plan: Spu) -> int:
        unit, taken = self._open.get(plan, (0, self._together))
        return unit if taken < self._together else self._units + 1

    def _leave(self, spuid: str) -> int:
        _, subscription, unit = self._members.pop(spuid)
        plan, question = subscription.spu, (subscription.spu, subscription.member)
        _, askers = self._shared[question]
        if askers > 1:
            self._shared[question] = unit, askers - 1
        else:
            del self._shared[question]
        self._engine.unsubscribe(subscription.id)
        if not plan.members:
            self._open.pop(plan, None)
        return unit


def asks_for_chance(text: str) -> bool:
    """Whether a query calls functions that give another value each time. Raises the errors of its text."""
    return any(map(_is_random, every_expression(parse_query(text).pattern)))


def _is_random(expression: Expression) -> bool:
    if isinstance(expression, Call) and expression.function in ("RAND", "UUID", "STRUUID"):
        return True
    return any(map(_is_random, operands(expression)))
