"""What the text of a request depends on besides its algebra: its constants, and the graphs that it sees.

Whoever reads the text knows one default graph and all named graphs, so what is to see fewer of them says so: patterns
outside of GRAPH are put into the graph that they are about, and the names of graphs are filtered.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from tidings.model.access import Graphs
from tidings.model.terms import DEFAULT_GRAPH, Term, Var, literal
from tidings.sparql.algebra import WHOLE, Dataset

_UNNAMEABLE = re.compile(r"\W")
HIDDEN = "?tidings_hidden_"
"""How the variables begin that no user has named."""


def _as_it_is(term: Term) -> Term:
    return term


@dataclass(frozen=True, slots=True)
class Surroundings:
    """`spell` says how a constant is written; `home` is the graph that stands for the default graph, if any does,
    `ignored` is how the names of graphs begin that are nobody's business, and `tests` says whether EXISTS may be asked
    for as if it were a value."""

    parameters: tuple[Term, ...] = ()
    dataset: Dataset = WHOLE
    spell: Callable[[Term], Term] = _as_it_is
    home: Term = DEFAULT_GRAPH
    ignored: tuple[str, ...] = ()
    tests: bool = False
    bases: dict[str, None] = field(default_factory=dict)
    """By which relative IRIs are resolved, as far as the text depends on it."""

    def constant(self, term: Term) -> Term:
        return self.spell(self.parameters[int(term[2:])] if term[0] == "$" else term)

    def term(self, term: str) -> str:
        """A constant, or a variable by a name that it can have in a text."""
        return written_variable(term) if term[0] == "?" else self.constant(term)

    # -- graphs -----------------------------------------------------------------------------------------------------

    @property
    def merged(self) -> tuple[Term, ...]:
        """Graphs that are the default graph together, which FROM has to say; () if it is one graph, or none."""
        default = self.dataset.default
        return default if default is not None and len(default) > 1 else ()

    def default(self) -> Term | None:
        """The name of the graph that patterns outside of GRAPH are about; None if there is none for them."""
        default = self.dataset.default
        if default is None:
            return self.home
        if not default:
            return None
        return DEFAULT_GRAPH if len(default) > 1 else default[0] or self.home

    def condition(self, name: str) -> str | None:
        """What must be true of a graph that a pattern names; None if every graph will do."""
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
    """Variables that no text can name have names all the same."""
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
