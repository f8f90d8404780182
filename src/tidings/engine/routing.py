"""Enters the triple patterns of plans and newcomers in the LUTT, and finds those that a delta may concern."""

from msgspec import Struct

from tidings.engine.lutt import Lutt
from tidings.engine.operators.base import Hits, Route
from tidings.engine.plans.spu import Routed, keys_of
from tidings.model.terms import Quad, Term
from tidings.model.zset import ZSet
from tidings.sparql.evaluate.layout import Row


class Wake(Struct, eq=False):
    """An entry of the LUTT: a triple pattern (route), and its plan or newcomer."""

    spu: Routed
    route: Route
    own: bool
    """Whether the pattern has constants that differ from member to member."""


def _sees(spu: Routed, graph: Term) -> bool:
    readable = spu.dataset.readable
    return readable is None or readable.has(graph)


class Routing:
    """Enters the routes of plans in the LUTT, and looks them up."""

    __slots__ = ("_wakes", "every_commit", "lutt", "sizes")

    def __init__(self) -> None:
        self.lutt: Lutt[Wake] = Lutt()
        self.sizes: dict[Routed, int] = {}
        """How many subscribers each plan has."""
        self.every_commit: dict[Routed, None] = {}
        """Plans that are evaluated after every commit in the graphs that they may read."""
        self._wakes: dict[Routed, dict[Route, Wake]] = {}

    def __contains__(self, spu: Routed) -> bool:
        return spu in self._wakes

    def __len__(self) -> int:
        return len(self._wakes)

    def enter(self, spu: Routed, *, every_commit: bool) -> None:
        """Enter a plan, with the routes that are the same for all members."""
        self.sizes[spu] = 0
        if every_commit:
            self.every_commit[spu] = None
        self._wakes[spu] = wakes = {route: Wake(spu, route, spu.is_own(route)) for route in spu.routes}
        for route, wake in wakes.items():
            if not wake.own:
                for key in keys_of(spu, route, (), spu.dataset):
                    self.lutt.put(key, wake)

    def leave(self, spu: Routed) -> None:
        for route, wake in self._wakes.pop(spu).items():
            if not wake.own:
                for key in keys_of(spu, route, (), spu.dataset):
                    self.lutt.drop(key, wake)
        del self.sizes[spu]
        self.every_commit.pop(spu, None)

    def file(self, spu: Routed, member: Row) -> None:
        """Enter the routes that have constants of this member."""
        for route, wake in self._wakes[spu].items():
            if wake.own:
                for key in keys_of(spu, route, member, spu.dataset):
                    self.lutt.put(key, wake)

    def unfile(self, spu: Routed, member: Row) -> None:
        for route, wake in self._wakes[spu].items():
            if wake.own:
                for key in keys_of(spu, route, member, spu.dataset):
                    self.lutt.drop(key, wake)

    def exchange(self, spu: Routed) -> None:
        """Replace the routes of a plan that was made anew; their patterns are the same."""
        wakes = self._wakes[spu].values()
        for wake, route in zip(wakes, spu.routes, strict=True):
            wake.route = route
        self._wakes[spu] = dict(zip(spu.routes, wakes, strict=True))

    def always_concerns(self, quad: Quad) -> bool:
        """Whether a plan that is evaluated after every commit may read the graph of this quad."""
        return any(_sees(spu, quad[3]) for spu in self.every_commit)

    def find(self, delta: ZSet[Quad]) -> tuple[dict[Routed, Hits], int]:
        """The plans that a delta may concern, with the quads that hit their routes, and the number of subscribers."""
        touched: dict[Routed, Hits] = {}
        if self.every_commit:
            graphs = {quad[3] for quad, _ in delta.items()}
            for spu in self.every_commit:
                if any(_sees(spu, graph) for graph in graphs):
                    touched[spu] = {}
        partly: dict[Routed, bool] = {}
        for wake, found in self.lutt.find(delta.items()).items():
            hits = touched.get(wake.spu)
            if hits is None:
                touched[wake.spu] = {wake.route: found}
                partly[wake.spu] = wake.own
            else:
                hits[wake.route] = found
                partly[wake.spu] &= wake.own
        concerned = 0
        for spu, hits in touched.items():
            concerned += spu.concerned(hits) if partly.get(spu) else self.sizes[spu]
        return touched, concerned
