"""A path with a bound end:  Δ = N ⋈ path ⋈ ΔF + N ⋈ Δpath ⋈ F' + ΔN ⋈ path' ⋈ F'.

N is the pattern at the near end, where the roots are, and F the one at the far end. Either may be a constant; a pattern
that binds both ends is N. The first commit finds the roots and plants their trees, by evaluating the state before it.
"""

from collections.abc import Collection, Iterable
from functools import reduce
from typing import Any, TypeAlias

from tidings.engine.lutt import Items
from tidings.engine.operators.base import Changes, Explanation, Hits, Route, States, shown
from tidings.engine.operators.law import Law
from tidings.engine.operators.path import watched
from tidings.engine.operators.reach.ends import End, Joining
from tidings.engine.operators.reach.pairs import MOST_TREES, ByTrees, ByWalking, Connected, Ground, starts_lead_to_less
from tidings.model.terms import Term
from tidings.model.zset import absorb
from tidings.sparql.algebra import UNIT, Join, Node, PathPattern, may_stand_still
from tidings.sparql.evaluate.layout import Layout, Row
from tidings.sparql.evaluate.walk import reverse


class Reach:
    """N ⋈ path ⋈ F inside one graph. `start` and `end` are the ends of the path; if a pattern binds both, it belongs to
    `start`."""

    __slots__ = ("_ends", "_law", "_oriented", "_pattern", "_states", "_turned", "_version", "layout", "routes")

    def __init__(self, pattern: PathPattern, start: End, end: End, states: States) -> None:
        self._pattern = pattern
        self._ends = (start, end)
        self._states = states
        self.routes = tuple(Route(each, states.graph) for each in watched(pattern, states.graph))
        found = start.layout.extended(end.layout.variables, end.layout.certain)
        variables = [each.term for each in (start, end) if not each.is_fixed]
        self.layout = found.extended(variables, variables)
        self._oriented: _Oriented | None = None
        self._version = 0
        nodes: list[Node] = [node for node in (start.node, pattern, end.node) if node is not UNIT]
        members = [end.side.members for end in self._ends if end.side is not None and end.side.members is not None]
        self._law = Law(reduce(Join, nodes), self.layout, states, members[0] if members else None)
        states.caches.append(self)
        self._turned: bool | None = None
        """Whether the roots have to be at the end of the path; None if `_Oriented` may choose."""

    def delta(self, hits: Hits) -> Changes:
        start, end = (each.delta(hits) for each in self._ends)
        items = [item for route in self.routes for item in hits.get(route, ())]
        if not (start or end or items):
            return {}
        changes = self._law.within(len(start) + len(end) + len(items), self._advanced, start, end, items)
        if changes is None:
            self._oriented = None
            return self._law.again()
        return changes

    def _advanced(self, start: Changes, end: Changes, items: Items) -> Changes:
        if self._oriented is None or self._version != self._members_version():
            self._version = self._members_version()
            self._oriented = _Oriented(self._pattern, *self._ends, self.layout, self._states, turned=self._turned)
        oriented = self._oriented
        near, far = (end, start) if oriented.is_reversed else (start, end)
        changes = oriented.delta(near, far, items)
        if oriented.is_to_turn():
            self._turned = not oriented.is_reversed
            self._oriented = None
        return changes

    def _members_version(self) -> int:
        """Changes whenever members come or go, and their roots with them."""
        return sum(end.side.version for end in self._ends if end.side is not None)

    def items(self) -> Iterable[Any]:
        """The terms at both ends, then the trees."""
        if self._oriented is not None and self._version == self._members_version():
            yield from self._oriented.items()

    def extend(self, items: list[Any]) -> None:
        if self._oriented is None:
            known = items.pop(0)
            self._oriented = _Oriented(self._pattern, *self._ends, self.layout, self._states, known=known)
        self._oriented.extend(items)

    def complete(self) -> None:
        self._version = self._members_version()

    def admit(self, parameters: Row) -> None:
        for end in self._ends:
            if end.side is not None:
                end.side.operator.admit(parameters)

    def dismiss(self, parameters: Row) -> None:
        for end in self._ends:
            if end.side is not None:
                end.side.operator.dismiss(parameters)

    def explain(self) -> Explanation:
        start, end = self._ends
        how = "not begun" if self._oriented is None else self._oriented.explain()
        inside = tuple(each.side.operator.explain() for each in self._ends if each.side is not None)
        return Explanation("reach", f"{shown(start.term)} … {shown(end.term)}, {how}{self._law.shown()}", True, inside)


_Known: TypeAlias = tuple[bool, dict[Term, int], dict[Term, int]]
"""Whether the roots are at the end of the path; the roots and the terms at the other end, with their counts."""


class _Oriented:
    """The operator with its roots at one end: the end with fewer terms or, if there are few at both, the one from which
    a walk reaches less."""

    __slots__ = (
        "_at",
        "_by_far",
        "_by_near",
        "_by_path",
        "_connected",
        "_far",
        "_ground",
        "_near",
        "_roots",
        "_targets",
        "is_reversed",
    )

    def __init__(
        self, pattern: PathPattern, start: End, end: End, layout: Layout, states: States, *,
        turned: bool | None = None, known: "_Known | None" = None,
    ) -> None:  # fmt: skip
        path = pattern.path
        near, far = start, end
        if known is None:
            roots, targets = start.terms(states), end.terms(states)
            self.is_reversed = not start.is_bound or (end.is_bound and len(targets) < len(roots))
            if start.is_bound and end.is_bound and max(len(roots), len(targets)) <= MOST_TREES:
                source, charge = states.source(states.old), states.meter.charge
                smaller = turned is None and starts_lead_to_less(path, roots, targets, source, charge)
                self.is_reversed = not smaller if turned is None else turned
            if self.is_reversed:
                roots, targets = targets, roots
        else:
            self.is_reversed, roots, targets = known
        if self.is_reversed:
            path, near, far = reverse(path), end, start
        self._near, self._far = near, far
        self._roots = roots
        self._targets = targets if far.is_bound else None
        """The terms at the far end with their counts; None if it may be any term."""
        rooted = not near.is_fixed and not far.is_fixed and may_stand_still(path)
        ground = Ground(path, states, rooted=rooted)
        self._ground = ground
        planted = roots if known is None else ()
        self._connected: Connected = ByTrees(ground, planted) if len(roots) <= MOST_TREES else ByWalking(ground)
        ends = (near.name, far.name)
        self._at = near.layout.index.get(far.name)
        """The column of the far end in rows of the near end, if the near pattern binds both."""
        old, new = states.old, states.new
        self._by_far = Joining((near.name, *far.layout.variables), [(near, old)], layout, states)
        self._by_path = Joining(ends, [(near, old), (far, new)], layout, states)
        brought = near.layout.extended(ends)
        self._by_near = Joining(brought.variables, [(far, new)], layout, states)

    def items(self) -> Iterable[Any]:
        """The terms at both ends, then the trees."""
        known: _Known = self.is_reversed, self._roots, self._targets or {}
        yield known
        if isinstance(self._connected, ByTrees):
            yield from self._connected.items()

    def extend(self, items: Iterable[Any]) -> None:
        if isinstance(self._connected, ByTrees):
            self._connected.extend(items)

    def delta(self, near: Changes, far: Changes, items: Items) -> Changes:
        changes = self._by_far.rows(self._met(far))
        if self._targets is not None:
            self._far.absorb(self._targets, far)
        pairs = self._connected.changed(items, self._roots, self._targets) if items else {}
        absorb(changes, self._by_path.rows(pairs).items())
        absorb(changes, self._by_near.rows(self._grown(near)).items())
        self._near.absorb(self._roots, near)
        self._settle()
        return changes

    def _met(self, far: Changes) -> Changes:
        """Changed rows of the far end with the roots that reached them before the commit."""
        if not far:
            return {}
        at = self._far.layout.index[self._far.name]
        found: Changes = {}
        for row, weight in far.items():
            end = row[at]
            if end is not None:
                for root in self._connected.roots_of(end, self._roots):
                    found[(root, *row)] = weight
        return found

    def _grown(self, near: Changes) -> Changes:
        """Changed rows of the near end with the ends that their roots reach now."""
        found: Changes = {}
        for row, weight in near.items():
            root = row[self._near.layout.index[self._near.name]]
            assert root is not None
            ends = self._connected.ends_of(root)
            if self._at is not None:
                if row[self._at] in ends:
                    found[row] = weight
            else:
                for end in self._wanted(ends):
                    found[(*row, end)] = weight
        return found

    def _wanted(self, ends: Collection[Term]) -> Iterable[Term]:
        targets = self._targets
        if targets is None:
            return ends
        fewer, others = (targets, ends) if len(targets) < len(ends) else (ends, targets)
        return [each for each in fewer if each in others]

    def _settle(self) -> None:
        """Walk from now on, if there are too many roots for trees. Otherwise drop the trees that are not needed."""
        if isinstance(self._connected, ByTrees):
            if len(self._roots) > 2 * MOST_TREES:
                self._connected = ByWalking(self._ground)
            else:
                self._connected.forget_all_but(self._roots)

    def is_to_turn(self) -> bool:
        """Whether to move the roots to the other end: new roots have taken more trees than there are terms there."""
        connected, targets = self._connected, self._targets
        return isinstance(connected, ByTrees) and targets is not None and connected.planted > max(len(targets), 1)

    def explain(self) -> str:
        how = "a search tree for each root" if isinstance(self._connected, ByTrees) else "walked from changed edges"
        return f"{len(self._roots)} root(s) at the {'end' if self.is_reversed else 'start'}, {how}"
