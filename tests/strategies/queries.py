"""Queries as texts, grown along the grammar. Groups know their variables, so that every text is a valid query.

What the recommendation leaves open is not written: order among incomparable terms, a BIND, VALUES or MINUS of outer
variables inside EXISTS; nor what pyoxigraph cannot read or mishandles: `!()`, `IN ()`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from strategies.data import GRAPHS, LITERALS, NUMBERS, PREDICATES, PREFIX, RESOURCES

VARIABLES = ("?x", "?y", "?z", "?w")
NOWHERE = "<http://example.org/nowhere>"
Draw = st.DrawFn


def pick(draw: Draw, choices: Sequence[str]) -> str:
    return draw(st.sampled_from(choices))


def chance(draw: Draw, one_in: int) -> bool:
    return draw(st.integers(1, one_in)) == one_in


# -- paths and triples ------------------------------------------------------------------------------------------


def path(draw: Draw, depth: int) -> str:
    if depth == 0:
        return pick(draw, PREDICATES)
    match draw(st.integers(0, 5)):
        case 0:
            return f"({path(draw, depth - 1)} / {path(draw, depth - 1)})"
        case 1:
            return f"({path(draw, depth - 1)} | {path(draw, depth - 1)})"
        case 2:
            return f"^{path(draw, depth - 1)}" if depth == 1 else f"^({path(draw, depth - 1)})"
        case 3:
            members = draw(
                st.lists(st.sampled_from([*PREDICATES, *(f"^{p}" for p in PREDICATES)]), min_size=1, max_size=3)
            )
            return f"!({' | '.join(members)})"
        case _:
            return f"({path(draw, depth - 1)}){pick(draw, '*+?')}"


def triple(draw: Draw, scope: set[str]) -> str:
    subject = pick(draw, (*VARIABLES, *VARIABLES, "?g", *RESOURCES, "[]"))
    verb = path(draw, draw(st.integers(1, 2))) if chance(draw, 4) else pick(draw, (*PREDICATES * 2, "?p", "?y"))
    object_ = pick(draw, (*VARIABLES, *VARIABLES, "?g", "?g", *RESOURCES, *LITERALS, "[]", f"[ {PREDICATES[0]} ?z ]"))
    if object_[:3] == "[ <":
        scope.add("?z")
    scope.update(term for term in (subject, verb, object_) if term[0] == "?")
    return f"{subject} {verb} {object_} . "


# -- expressions ------------------------------------------------------------------------------------------------


_CONDITIONS = (
    *("BOUND(?x)", "BOUND(?v)", "BOUND(?g)", "(?g = ?x)", "ISIRI(?y)", "(?x = ?y)", "(?z != ?x)", "(?y > 1)", "?x"),
    *(f"(?x = {RESOURCES[0]})", f"({RESOURCES[1]} = ?y)", f"SAMETERM(?z, {RESOURCES[2]})", f"(?g = {GRAPHS[0]})"),
    *('(?y = "s")', '(?z = "s"@en)', f"(?w = {NUMBERS[0]})", f"(?x = {NOWHERE})"),
)


def value(draw: Draw, depth: int) -> str:
    if depth == 0 or chance(draw, 3):
        return pick(draw, (*VARIABLES, *VARIABLES, "?g", "?v", *NUMBERS, *LITERALS, *RESOURCES))
    match draw(st.integers(0, 5)):
        case 0 | 1:
            return f"({value(draw, depth - 1)} {pick(draw, '+-*')} {value(draw, depth - 1)})"
        case 2:
            return f"IF({condition(draw, depth - 1)}, {value(draw, depth - 1)}, {value(draw, depth - 1)})"
        case 3:
            return f"COALESCE({value(draw, depth - 1)}, {value(draw, depth - 1)})"
        case 4:
            return f"{pick(draw, ('STRLEN', 'LANG', 'ISIRI', 'ISNUMERIC'))}({value(draw, depth - 1)})"
        case _:
            return f"(- {value(draw, depth - 1)})"


def condition(draw: Draw, depth: int, exists: bool = False) -> str:
    if depth == 0:
        return pick(draw, _CONDITIONS)
    match draw(st.integers(0, 8)):
        case 0 | 1:
            return f"({value(draw, depth)} {pick(draw, ('=', '!='))} {value(draw, depth)})"
        case 2:
            # pyoxigraph orders any term with itself, so the operands are made numbers or errors first
            return f"({value(draw, depth)} + 0 {pick(draw, ('<', '>', '<=', '>='))} {value(draw, depth)} + 0)"
        case 3:
            return f"(! {condition(draw, depth - 1, exists)})"
        case 4:
            sign = pick(draw, ("&&", "||"))
            return f"({condition(draw, depth - 1, exists)} {sign} {condition(draw, depth - 1, exists)})"
        case 5:
            members = ", ".join(value(draw, depth - 1) for _ in range(draw(st.integers(1, 3))))
            return f"({value(draw, depth - 1)} {pick(draw, ('IN', 'NOT IN'))} ({members}))"
        case 6 | 7 if exists:
            return f"{pick(draw, ('EXISTS', 'NOT EXISTS'))} {group(draw, depth - 1, set(), inside_exists=True)}"
        case _:
            return condition(draw, 0)


# -- groups -----------------------------------------------------------------------------------------------------

_PLAIN = ("triple", "triple", "triple", "optional", "union", "filter", "graph", "group")
_ALL = (*_PLAIN, "optional", "minus", "bind", "values", "select", "filter")


def group(draw: Draw, depth: int, scope: set[str], *, inside_exists: bool = False) -> str:
    """A group graph pattern; `scope` learns the variables it brings into scope."""
    kinds = ("triple", "triple", "filter") if depth == 0 else _PLAIN if inside_exists else _ALL
    inner: set[str] = set()
    first = triple(draw, inner) if chance(draw, 3) else ""
    parts = [element(draw, pick(draw, kinds), depth, inner, inside_exists) for _ in range(draw(st.integers(1, 3)))]
    scope |= inner
    return "{ " + first + "".join(parts) + "}"


def element(draw: Draw, kind: str, depth: int, scope: set[str], inside_exists: bool) -> str:
    def nested(into: set[str]) -> str:
        return group(draw, depth - 1, into, inside_exists=inside_exists)

    match kind:
        case "triple":
            return triple(draw, scope)
        case "optional":
            return f"OPTIONAL {nested(scope)} "
        case "union":
            return f"{nested(scope)} UNION {nested(scope)} "
        case "minus":
            return f"MINUS {nested(set())} "
        case "filter":
            return f"FILTER ({condition(draw, draw(st.integers(0, 2)), exists=True)}) "
        case "graph":
            name = pick(draw, ("?g", "?g", "?x", *GRAPHS))
            scope.update({name} if name[0] == "?" else ())
            return f"GRAPH {name} {nested(scope)} "
        case "bind":
            variable = pick(draw, [v for v in (*VARIABLES, "?v", "?g") if v not in scope] or ["?new"])
            if variable in scope:
                return ""
            scope.add(variable)
            return f"BIND ({value(draw, 2)} AS {variable}) "
        case "values":
            return values(draw, scope)
        case "select":
            return "{ " + sub_select(draw, depth - 1, scope) + " } "
        case _:
            return f"{nested(scope)} "


def values(draw: Draw, scope: set[str]) -> str:
    variables = draw(st.lists(st.sampled_from((*VARIABLES, "?g")), min_size=1, max_size=2, unique=True))
    terms = st.sampled_from(("UNDEF", *RESOURCES, *GRAPHS, *NUMBERS, NOWHERE))
    rows = draw(st.lists(st.tuples(*[terms for _ in variables]), max_size=3))
    scope.update(variables)
    data = " ".join("(" + " ".join(row) + ")" for row in rows)
    return f"VALUES ({' '.join(variables)}) {{ {data} }} "


# -- whole queries ----------------------------------------------------------------------------------------------

_AGGREGATES = ("COUNT(*)", "COUNT({})", "COUNT(DISTINCT {})", "SUM({})", "AVG({})", "MIN({})", "MAX({})")


def sub_select(draw: Draw, depth: int, scope: set[str]) -> str:
    clause, rest, selected = select(draw, depth)
    scope |= selected
    return f"{clause} WHERE {rest}"


def select(draw: Draw, depth: int) -> tuple[str, str, set[str]]:
    """The SELECT clause, the pattern with its modifiers, and the variables selected."""
    inner: set[str] = set()
    pattern = group(draw, depth, inner)
    if chance(draw, 4):
        return grouped(draw, pattern, inner)
    distinct = "DISTINCT " if chance(draw, 4) else ""
    if chance(draw, 3):
        return f"SELECT {distinct}*", pattern, inner
    variables = draw(st.lists(st.sampled_from((*VARIABLES, "?g")), min_size=1, max_size=3, unique=True))
    selected = set(variables)
    items = " ".join(variables)
    if chance(draw, 3) and "?new" not in inner:
        items += f" ({value(draw, 2)} AS ?new)"
        selected.add("?new")
    return f"SELECT {distinct}{items}", pattern, selected


def grouped(draw: Draw, pattern: str, inner: set[str]) -> tuple[str, str, set[str]]:
    keys = draw(st.lists(st.sampled_from((*VARIABLES, "?g")), max_size=2, unique=True))
    shape = pick(draw, _AGGREGATES)
    aggregate = shape.format(pick(draw, (*VARIABLES, "(?x + ?y)")))
    clause = f"SELECT {' '.join(keys)} ({aggregate} AS ?count)"
    rest = f"{pattern} GROUP BY {' '.join(keys)}" if keys else pattern
    if chance(draw, 3):
        rest += f" HAVING ({pick(draw, (f'COUNT(*) > {len(keys)}', f'{aggregate} > 1'))})"
    return clause, rest, {*keys, "?count"}


def dataset_clause(draw: Draw) -> str:
    if not chance(draw, 4):
        return ""
    sources = draw(st.lists(st.sampled_from([*GRAPHS, *(f"NAMED {name}" for name in GRAPHS)]), min_size=1, max_size=3))
    return " ".join(f"FROM {source}" for source in sources)


@st.composite
def selects(draw: Draw, depth: int = 2) -> str:
    clause, rest, _ = select(draw, depth)
    return f"{PREFIX}{clause}\n{dataset_clause(draw)} WHERE {rest}"


@st.composite
def asks(draw: Draw) -> str:
    return f"{PREFIX}ASK {dataset_clause(draw)} {group(draw, 2, set())}"


@dataclass(frozen=True, slots=True)
class Ordered:
    """A query in a total order, and its window."""

    text: str
    offset: int
    limit: int
    variables: list[str] = field(default_factory=list)


@st.composite
def ordered(draw: Draw) -> Ordered:
    scope: set[str] = set()
    pattern = group(draw, 1, scope)
    variables = sorted(scope) or ["?x"]
    keys = " ".join(f"{pick(draw, ('ASC', 'DESC'))}({variable})" for variable in draw(st.permutations(variables)))
    offset, limit = draw(st.integers(0, 3)), draw(st.integers(0, 5))
    return Ordered(f"{PREFIX}SELECT {' '.join(variables)} {pattern} ORDER BY {keys}", offset, limit, variables)


@st.composite
def constructs(draw: Draw) -> str:
    template = "".join(
        f"{pick(draw, (*VARIABLES, RESOURCES[0], '_:t'))} {pick(draw, (*PREDICATES, '?y'))} "
        f"{pick(draw, (*VARIABLES, *LITERALS, '_:t', '[]'))} . "
        for _ in range(draw(st.integers(1, 3)))
    )
    return f"{PREFIX}CONSTRUCT {{ {template}}} {dataset_clause(draw)} WHERE {group(draw, 2, set())}"
