"""What the text of a request depends on besides its algebra: its constants, and the graphs that it sees.

The endpoint has one default graph and all named graphs. The text of a request that may see fewer graphs says so: it
has GRAPH around patterns of the default graph, and filters on the names of graphs.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from tidings.model.access import Graphs
from tidings.model.terms import DEFAULT_GRAPH, Term, Var, literal
from tidings.sparql.algebra import WHOLE, Dataset

_UNNAMEABLE = re.compile(r"\W")
HIDDEN = "?tidings_hidden_"
"""The prefix of variables that the user has not named."""


def _as_it_is(term: Term) -> Term:
    return term


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`spell` writes a constant; `home` is the named graph of the endpoint that stands for the default graph, if any;
    `ignored` has the prefixes of graph names that users do not see; `tests` says whether the endpoint can SELECT the
    value of EXISTS."""

    parameters: tuple[Term, ...] = ()
    dataset: Dataset = WHOLE
    spell: Callable[[Term], Term] = _as_it_is
    home: Term = DEFAULT_GRAPH
    ignored: tuple[str, ...] = ()
    tests: bool = False
    bases: dict[str, None] = field(default_factory=dict)
    """The base IRIs that the text depends on, because it calls IRI()."""

    def constant(self, term: Term) -> Term:
        return self.spell(self.parameters[int(term[2:])] if term[0] == "$" else term)

    def term(self, term: str) -> str:
        """The text of a constant or of a variable."""
        return written_variable(term) if term[0] == "?" else self.constant(term)

    # -- graphs -----------------------------------------------------------------------------------------------------

    @property
    def merged(self) -> tuple[Term, ...]:
        """The graphs whose merge is the default graph, which FROM has to name; () if it is one graph, or none."""
        default = self.dataset.default
        return default if default is not None and len(default) > 1 else ()

    def default(self) -> Term | None:
        """The name of the graph that patterns outside of GRAPH match; None if the default graph is empty."""
        default = self.dataset.default
        if default is None:
            return self.home
        if not default:
            return None
        return DEFAULT_GRAPH if len(default) > 1 else default[0] or self.home

    def condition(self, name: str) -> str | None:
        """The filter for the name of a graph; None if the pattern may match every named graph."""
        named, readable = self.dataset.named, self.dataset.readable
        if name[0] != "?":
            return None if _sees(self.constant(name), self.dataset) else "false"
        variable, conditions = written_variable(name), []
        if named is not None:
            if self.merged:
                return None  # FROM NAMED says it
            conditions.append(f"{variable} IN ({', '.join(named)})")
        elif readable is not None:
            conditions.append(_within(variable, readable))
        if self.home:
            conditions.append(f"{variable} != {self.home}")
        conditions += [f"!STRSTARTS(STR({variable}), {literal(start[1:])})" for start in self.ignored]
        return " && ".join(f"({each})" for each in conditions) or None


def written_variable(variable: Var) -> Var:
    """The name of a variable in the text: variables of the parser get names that a text can have."""
    return HIDDEN + _UNNAMEABLE.sub("_", variable[2:]) if variable[1] in ":$" else variable


def _sees(graph: Term, dataset: Dataset) -> bool:
    if dataset.named is not None:
        return graph in dataset.named
    return dataset.readable is None or dataset.readable.has(graph)


def _within(variable: Var, readable: Graphs) -> str:
    names = sorted(name for name in readable.names if name)
    parts = [f"{variable} IN ({', '.join(names)})"] if names else []
    parts += [f"STRSTARTS(STR({variable}), {literal(prefix)})" for prefix in readable.prefixes]
    return " || ".join(parts) or "false"
