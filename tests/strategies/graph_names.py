"""Queries in which the variable of GRAPH is used within the graph as well, and data in which it then means something.

Fewer terms than elsewhere: a name is found, and found to be the wrong one, in most of them.
"""

from hypothesis import strategies as st

from strategies.data import GRAPHS, PREDICATES, PREFIX, RESOURCES
from strategies.queries import Draw, chance, pick
from tidings.model.terms import Quad

_terms = st.sampled_from((RESOURCES[0], *GRAPHS))
named_quads: st.SearchStrategy[Quad] = st.tuples(
    _terms, st.sampled_from(PREDICATES[:2]), _terms, st.sampled_from(("", *GRAPHS))
)
named_datasets = st.lists(named_quads, min_size=6, max_size=18)

_CONDITIONS = ("BOUND(?g)", "!BOUND(?g)", "?g = :g", "?g != :h", "?x = ?g", "?y = :g || BOUND(?x)", "?x != :a")
_PLAIN = ("triple", "triple", "optional", "optional", "union", "filter", "exists", "graph", "group")
_ALL = (*_PLAIN, "minus", "bind", "values", "select")


def _triple(draw: Draw) -> str:
    subject, object_ = pick(draw, ("?x", "?x", "?g", "?y", ":a")), pick(draw, ("?g", "?g", "?y", "?x", ":h"))
    return f"{subject} {pick(draw, (':p', ':q'))} {object_} . "


def _group(draw: Draw, depth: int, kinds: tuple[str, ...] = _ALL) -> str:
    some = kinds if depth else ("triple", "triple", "filter")
    first = _triple(draw) if chance(draw, 2) else ""
    parts = [_element(draw, pick(draw, some), depth - 1, kinds) for _ in range(draw(st.integers(1, 2)))]
    return "{ " + first + "".join(parts) + "}"


def _element(draw: Draw, kind: str, depth: int, kinds: tuple[str, ...]) -> str:
    match kind:
        case "triple":
            return _triple(draw)
        case "optional" | "minus":
            return f"{kind.upper()} {_group(draw, depth, kinds)} "
        case "union":
            return f"{_group(draw, depth, kinds)} UNION {_group(draw, depth, kinds)} "
        case "filter":
            return f"FILTER ({pick(draw, _CONDITIONS)}) "
        case "exists":
            return f"FILTER {pick(draw, ('EXISTS', 'NOT EXISTS'))} {_group(draw, depth, _PLAIN)} "
        case "graph":
            return f"GRAPH {pick(draw, ('?g', '?x', ':h'))} {_group(draw, depth, kinds)} "
        case "bind":  # in a group of its own, where no variable is in its way
            return f"{{ BIND ({pick(draw, (':g', '?x', ':a'))} AS {pick(draw, ('?g', '?y'))}) }} "
        case "values":
            return f"VALUES (?g ?x) {{ {pick(draw, ('(:g UNDEF) (UNDEF :a)', '(:h :h) (:a :a)', '(UNDEF UNDEF)'))} }} "
        case "select":
            head = pick(draw, ("SELECT ?g", "SELECT ?x", "SELECT DISTINCT ?g ?x", "SELECT (COUNT(?g) AS ?n)"))
            return f"{{ {head} {_group(draw, depth, kinds)} }} "
        case _:
            return f"{_group(draw, depth, kinds)} "


_AROUND = (
    "GRAPH ?g {}",
    "GRAPH ?g {}",
    "?x :p ?g GRAPH ?g {}",
    "GRAPH ?g {} OPTIONAL { ?x :q ?g }",
    "?x :p ?y OPTIONAL { GRAPH ?g {} }",
    "GRAPH ?y { GRAPH ?g {} }",
    "GRAPH ?g {} FILTER (?g = :g)",
    "?x :p ?y FILTER EXISTS { GRAPH ?g {} }",
    "?g :p ?x FILTER EXISTS { GRAPH ?g {} }",
    "?x :p ?y OPTIONAL { ?x :q ?g } FILTER NOT EXISTS { GRAPH ?g {} }",
)


@st.composite
def named_inside(draw: Draw) -> str:
    """GRAPH ?g around a group that has ?g in it, mostly."""
    around = pick(draw, _AROUND)
    within = _group(draw, 2, _PLAIN if "EXISTS" in around else _ALL)
    return f"{PREFIX}SELECT * WHERE {{ {around.replace('{}', within)} }}"
