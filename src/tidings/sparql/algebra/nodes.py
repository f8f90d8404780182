"""The SPARQL algebra (section 18 of the recommendation) as closed unions of frozen nodes.

The parser builds these directly and everything downstream matches on them. Terms and variables are strings
(see `model.terms`); a variable that starts with `?:` stands for a blank node or was made up by the parser, and is
never visible to the user. Nodes are msgspec structs: an update is parsed anew each time, and building a struct
takes 0.08 µs where a frozen dataclass takes 0.41 µs.
"""

from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from tidings.model.access import Graphs
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term, Var

TriplePattern: TypeAlias = tuple[str, str, str]
QuadPattern: TypeAlias = tuple[str, str, str, str]


# -- property paths ---------------------------------------------------------------------------------------------


class Inverse(Struct, frozen=True):
    inner: "Path"


class Sequence(Struct, frozen=True):
    first: "Path"
    second: "Path"


class Alternative(Struct, frozen=True):
    left: "Path"
    right: "Path"


class Repeat(Struct, frozen=True):
    """`*` is (0, many), `+` is (1, many), `?` is (0, once)."""

    inner: "Path"
    least: Literal[0, 1]
    many: bool


class Negated(Struct, frozen=True):
    """Any predicate except these, forwards and backwards; a direction that is None is not walked at all."""

    forward: tuple[Term, ...] | None
    backward: tuple[Term, ...] | None


Path: TypeAlias = Term | Inverse | Sequence | Alternative | Repeat | Negated


# -- expressions ------------------------------------------------------------------------------------------------

Comparator: TypeAlias = Literal["=", "!=", "<", ">", "<=", ">="]
Operator: TypeAlias = Literal["+", "-", "*", "/"]


class And(Struct, frozen=True):
    left: "Expression"
    right: "Expression"


class Or(Struct, frozen=True):
    left: "Expression"
    right: "Expression"


class Not(Struct, frozen=True):
    inner: "Expression"


class Compare(Struct, frozen=True):
    operator: Comparator
    left: "Expression"
    right: "Expression"


class Arithmetic(Struct, frozen=True):
    """Operators of one rank, from left to right: a chain of a thousand is no deeper than one of two."""

    first: "Expression"
    rest: tuple[tuple[Operator, "Expression"], ...]


class Sign(Struct, frozen=True):
    operator: Literal["+", "-"]
    inner: "Expression"


class In(Struct, frozen=True):
    item: "Expression"
    choices: tuple["Expression", ...]


class Exists(Struct, frozen=True):
    pattern: "Node"


class Call(Struct, frozen=True):
    """A builtin by its upper-case name, or a function by its IRI term."""

    function: str
    arguments: tuple["Expression", ...]


class Aggregate(Struct, frozen=True):
    """COUNT(*) has no argument."""

    function: str
    argument: "Expression | None"
    distinct: bool = False
    separator: str = " "


Expression: TypeAlias = str | And | Or | Not | Compare | Arithmetic | Sign | In | Exists | Call | Aggregate


# -- graph patterns and solution modifiers ----------------------------------------------------------------------


class BGP(Struct, frozen=True):
    patterns: tuple[TriplePattern, ...]


class PathPattern(Struct, frozen=True):
    subject: str
    path: Path
    object: str


class Join(Struct, frozen=True):
    left: "Node"
    right: "Node"


class LeftJoin(Struct, frozen=True):
    left: "Node"
    right: "Node"
    condition: Expression | None


class Union(Struct, frozen=True):
    left: "Node"
    right: "Node"


class Minus(Struct, frozen=True):
    left: "Node"
    right: "Node"


class Filter(Struct, frozen=True):
    condition: Expression
    inner: "Node"


class Extend(Struct, frozen=True):
    inner: "Node"
    variable: Var
    expression: Expression


class Graph(Struct, frozen=True):
    name: str
    inner: "Node"


class Service(Struct, frozen=True):
    name: str
    inner: "Node"
    silent: bool
    text: str
    """The group between the braces as it was written, with its prefixes: what is sent to the endpoint."""


class Values(Struct, frozen=True):
    variables: tuple[Var, ...]
    rows: tuple[tuple[Term | None, ...], ...]


class Group(Struct, frozen=True):
    inner: "Node"
    keys: tuple[Var, ...]
    aggregates: tuple[tuple[Var, Aggregate], ...]


class OrderBy(Struct, frozen=True):
    inner: "Node"
    conditions: tuple[tuple[Expression, bool], ...]
    """Expression and whether it is descending."""


class Project(Struct, frozen=True):
    inner: "Node"
    variables: tuple[Var, ...]


class Distinct(Struct, frozen=True):
    inner: "Node"


class Slice(Struct, frozen=True):
    inner: "Node"
    offset: int
    limit: int | None


Node: TypeAlias = (
    BGP
    | PathPattern
    | Join
    | LeftJoin
    | Union
    | Minus
    | Filter
    | Extend
    | Graph
    | Service
    | Values
    | Group
    | OrderBy
    | Project
    | Distinct
    | Slice
)

UNIT = BGP(())
"""The pattern with exactly one, empty, solution."""


# -- requests ---------------------------------------------------------------------------------------------------


class Dataset(Struct, frozen=True):
    """Which graphs a request sees. None means what the store offers: its default graph, all its named graphs."""

    default: tuple[Term, ...] | None = None
    named: tuple[Term, ...] | None = None
    readable: Graphs | None = None
    """Among which it was chosen; None means all. By this, too, plans differ: who may read other graphs shares none."""

    def narrowed(self, readable: Graphs) -> "Dataset":
        """The same without the graphs that may not be read: as if they were not there."""
        if readable.everything:
            return self
        default, named = self.default, self.named
        if default is not None:
            default = tuple([name for name in default if readable.has(name)])
        elif not readable.has(DEFAULT_GRAPH):
            default = ()
        if named is not None:
            named = tuple([name for name in named if readable.has(name)])
        elif not readable.prefixes:
            named = tuple(sorted(name for name in readable.names if name))
        return Dataset(default, named, readable)


WHOLE = Dataset()


class Select(Struct, frozen=True):
    pattern: Node
    variables: tuple[Var, ...]
    dataset: Dataset
    warnings: tuple[str, ...] = ()
    """What its text says that is no mistake, but hardly meant: see `parser.expressions`."""


class Ask(Struct, frozen=True):
    pattern: Node
    dataset: Dataset
    warnings: tuple[str, ...] = ()


class Construct(Struct, frozen=True):
    template: tuple[TriplePattern, ...]
    pattern: Node
    dataset: Dataset
    warnings: tuple[str, ...] = ()


class Describe(Struct, frozen=True):
    targets: tuple[str, ...]
    """IRIs, and variables of the pattern."""
    pattern: Node
    dataset: Dataset
    warnings: tuple[str, ...] = ()


Query: TypeAlias = Select | Ask | Construct | Describe

GraphTarget: TypeAlias = Term | Literal["DEFAULT", "NAMED", "ALL"]


class InsertData(Struct, frozen=True):
    quads: tuple[Quad, ...]


class DeleteData(Struct, frozen=True):
    quads: tuple[Quad, ...]


class Modify(Struct, frozen=True):
    delete: tuple[QuadPattern, ...]
    insert: tuple[QuadPattern, ...]
    pattern: Node
    dataset: Dataset
    warnings: tuple[str, ...] = ()


class Load(Struct, frozen=True):
    source: str
    graph: Term
    silent: bool


class Clear(Struct, frozen=True):
    """CLEAR and DROP alike: the store keeps no empty graphs, so both leave the same behind."""

    target: GraphTarget
    silent: bool


class Create(Struct, frozen=True):
    graph: Term
    silent: bool


class Transfer(Struct, frozen=True):
    """ADD keeps the target, COPY replaces it, MOVE also empties the source."""

    kind: Literal["ADD", "COPY", "MOVE"]
    source: Term
    target: Term
    silent: bool


Operation: TypeAlias = InsertData | DeleteData | Modify | Load | Clear | Create | Transfer


def narrowed(query: Query, readable: Graphs) -> Query:
    """The same query over the graphs that may be read."""
    return query if readable.everything else replace(query, dataset=query.dataset.narrowed(readable))


def with_pattern(query: Query, pattern: Node) -> Query:
    """The same query over another pattern."""
    return replace(query, pattern=pattern)
