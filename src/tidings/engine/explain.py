"""EXPLAIN of a subscription: its plan as a tree, as text for people and as JSON for programs."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from tidings.engine.behind.costs import Cost
from tidings.engine.operators.base import Explanation, Route, shown


class Explained(Struct, frozen=True):
    """A plan, the triple patterns that wake it up, and how many subscriptions share it."""

    plan: Explanation
    routes: tuple[Route, ...]
    parameters: tuple[str, ...]
    members: int
    subscribers: int
    warnings: tuple[str, ...] = ()
    aside: int = 0
    """How often a fork brought it up to date, because a step would have taken longer than a slice."""
    cost: Cost | None = None
    """What it has cost; None if another engine works out its answers."""

    def alone(self) -> "Explained":
        """The same for a client that must not learn how many others share the plan."""
        return replace(self, members=1, subscribers=1)

    def to_json(self) -> dict[str, Any]:
        return {
            "incremental": is_incremental(self.plan),
            "parameters": list(self.parameters),
            "shared": {"members": self.members, "subscribers": self.subscribers},
            "aside": self.aside,
            "cost": None if self.cost is None else {"seconds": self.cost.seconds, "aside": self.cost.aside},
            "warnings": list(self.warnings),
            "routes": [{"pattern": list(route.pattern), "graph": route.graph} for route in self.routes],
            "plan": self.plan.to_json(),
        }

    def to_text(self) -> str:
        lines = [
            *(f"warning: {each}" for each in self.warnings),
            f"shared by {self.members:,} member(s) with {self.subscribers:,} subscriber(s)",
            "woken by " + ("; ".join(dict.fromkeys(map(_route, self.routes))) if self.routes else "every commit"),
            *([f"brought up to date aside {self.aside:,} time(s)"] if self.aside else []),
            *_tree(self.plan, "", ""),
        ]
        return "\n".join(lines)


def is_incremental(plan: Explanation) -> bool:
    """Whether no part of a plan is evaluated in full."""
    return plan.incremental and all(map(is_incremental, plan.inputs))


def _route(route: Route) -> str:
    pattern = " ".join("*" if term[0] == "?" and term[1] in ":v" else shown(term) for term in route.pattern)
    return pattern if not route.graph else f"{pattern} in {'any graph' if route.graph[0] == '?' else route.graph}"


def _tree(plan: Explanation, lead: str, below: str) -> Iterator[str]:
    mark = "" if plan.incremental else " [re-evaluates]"
    yield f"{lead}{plan.operator}{mark}: {plan.detail}"
    for number, inner in enumerate(plan.inputs, start=1):
        last = number == len(plan.inputs)
        yield from _tree(inner, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "))
