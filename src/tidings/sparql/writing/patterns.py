"""Graph patterns as text. Each is a group of its own between braces, so that filters keep their scope."""

from typing import assert_never

from tidings.model.errors import NotAllowed
from tidings.model.terms import DEFAULT_GRAPH, Term
from tidings.sparql.algebra import (
    BGP,
    Distinct,
    Expression,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    Node,
    OrderBy,
    PathPattern,
    Project,
    Service,
    Slice,
    TriplePattern,
    Union,
    Values,
    visible,
)
from tidings.sparql.writing.expressions import written_expression, written_path
from tidings.sparql.writing.surroundings import HIDDEN, Surroundings, written_variable


class PatternWriter:
    """Writes patterns outside of GRAPH, or those `inside` of one."""

    def __init__(self, around: Surroundings, *, inside: bool = False) -> None:
        self._around = around
        self._inside = inside

    def group(self, node: Node) -> str:
        """A pattern between braces."""
        return f"{{ {self._content(node)} }}"

    def _content(self, node: Node) -> str:
        """The text between the braces of a group that is only this pattern."""
        match node:
            case BGP(patterns):
                return self._at_home(" ".join(map(self.triple, patterns))) if patterns else ""
            case PathPattern(subject, path, object_):
                term = self._around.term
                return self._at_home(f"{term(subject)} {written_path(path)} {term(object_)} .")
            case Join(left, right):
                return f"{self._part(left)} {self._part(right)}"
            case LeftJoin(left, right, condition):
                test = "" if condition is None else f" {self._filter(condition)}"
                return f"{self._part(left)} OPTIONAL {{ {self.group(right)}{test} }}"
            case Union(left, right):
                return f"{self.group(left)} UNION {self.group(right)}"
            case Minus(left, right):
                return f"{self._part(left)} MINUS {self.group(right)}"
            case Filter(condition, inner):
                return f"{self._part(inner)} {self._filter(condition)}"
            case Extend(inner, variable, expression):
                return f"{self._part(inner)} BIND({self.expression(expression)} AS {written_variable(variable)})"
            case Graph(name, inner):
                return self._graph(name, inner)
            case Values(variables, rows):
                return self._values(variables, rows)
            case Service():
                raise NotAllowed("SERVICE is switched off here")
            case Group() | OrderBy() | Project() | Distinct() | Slice():
                return self.select(node)
            case _:
                assert_never(node)

    def _part(self, node: Node) -> str:
        """A pattern at the beginning of a group. Triples, joins and VALUES need no braces; the other patterns do."""
        return self._content(node) if isinstance(node, BGP | PathPattern | Join | Values) else self.group(node)

    def triple(self, pattern: TriplePattern) -> str:
        term = self._around.term
        return f"{term(pattern[0])} {term(pattern[1])} {term(pattern[2])} ."

    def expression(self, expression: Expression) -> str:
        return written_expression(expression, self._around, self.group)

    def _filter(self, condition: Expression) -> str:
        return f"FILTER({self.expression(condition)})"

    def _at_home(self, triples: str) -> str:
        """Triples within GRAPH, if the default graph of the request is a named graph at the endpoint."""
        if self._inside:
            return triples
        graph = self._around.default()
        if graph is None:
            return f"{{ {triples} FILTER(false) }}"
        return triples if graph == DEFAULT_GRAPH else f"GRAPH {graph} {{ {triples} }}"

    def _graph(self, name: str, inner: Node) -> str:
        condition = self._around.condition(name)
        text = f"GRAPH {self._around.term(name)} {PatternWriter(self._around, inside=True).group(inner)}"
        return text if condition is None else f"{text} FILTER({condition})"

    def _values(self, variables: tuple[str, ...], rows: tuple[tuple[Term | None, ...], ...]) -> str:
        constant = self._around.constant
        names = " ".join(map(written_variable, variables))
        cells = (" ".join("UNDEF" if term is None else constant(term) for term in row) for row in rows)
        return f"VALUES ({names}) {{ {' '.join(f'({row})' for row in cells)} }}"

    # -- SELECT -----------------------------------------------------------------------------------------------------

    def select(self, node: Node) -> str:
        """A SELECT with the outermost solution modifiers of a node, as many as one SELECT can have."""
        if isinstance(node, Group):
            return self._grouped(node)
        mark = window = order = ""
        if isinstance(node, Slice):
            limit = "" if node.limit is None else f" LIMIT {node.limit}"
            window, node = f"{limit} OFFSET {node.offset}" if node.offset else limit, node.inner
        if isinstance(node, Distinct):
            mark, node = "DISTINCT ", node.inner
        variables = tuple(visible(node))
        if isinstance(node, Project):
            node = node.inner
        if isinstance(node, OrderBy):
            order, node = f" ORDER BY {' '.join(self._ranked(*each) for each in node.conditions)}", node.inner
        names = " ".join(map(written_variable, variables)) or f"{HIDDEN}none"
        return f"SELECT {mark}{names} WHERE {self.group(node)}{order}{window}"

    def _ranked(self, expression: Expression, descending: bool) -> str:
        return f"{'DESC' if descending else 'ASC'}({self.expression(expression)})"

    def _grouped(self, node: Group) -> str:
        keys = " ".join(map(written_variable, node.keys))
        found = [f"({self.expression(each)} AS {written_variable(name)})" for name, each in node.aggregates]
        if not keys and not found:
            found = [f"(COUNT(*) AS {HIDDEN}none)"]
        by = f" GROUP BY {keys}" if keys else ""
        return f"SELECT {keys} {' '.join(found)} WHERE {self.group(node.inner)}{by}"
