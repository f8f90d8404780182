"""Aggregates, windows and DISTINCT, at their worst: the extreme itself changes, the window is far behind."""

from collections.abc import Iterator

from shape_table.shape import Shape, cut, put, scattered, triple
from tidings.model.terms import Quad

TOGGLES = 25


def values(size: int) -> Iterator[Quad]:
    return (triple(f"x{number}", "v", number * 2) for number in range(size))


def rooms(size: int) -> Iterator[Quad]:
    """Each room has 250 lamps, which have names."""
    for number in range(size // 2):
        yield triple(f"lamp{number}", "in", f"room{number // 250}")
        yield triple(f"lamp{number}", "name", f"name{number * 7919 % (size // 2)}")


def _greatest(size: int) -> Iterator[tuple[str, str]]:
    return (cut(f"x{size - 1}", "v", (size - 1) * 2) for _ in range(TOGGLES))


def _least(_: int) -> Iterator[tuple[str, str]]:
    return (cut("x0", "v", 0) for _ in range(TOGGLES))


def _anywhere(size: int) -> Iterator[tuple[str, str]]:
    return (put(f"y{at}", "v", at * 2 + 1) for at in scattered(TOGGLES, size))


def _names(size: int) -> Iterator[tuple[str, str]]:
    return (cut(f"lamp{at}", "name", f"name{at * 7919 % (size // 2)}") for at in scattered(TOGGLES, size // 2))


def _places(size: int) -> Iterator[tuple[str, str]]:
    return (cut(f"lamp{at}", "in", f"room{at // 250}") for at in scattered(TOGGLES, size // 2))


_OF_A_ROOM = "{ ?l :in ?r . ?l :name ?n } GROUP BY ?r"

SUMMARIES = (
    Shape("MAX, the greatest", "SELECT (MAX(?v) AS ?m) { ?x :v ?v }", values, _greatest),
    Shape("MIN, the least", "SELECT (MIN(?v) AS ?m) { ?x :v ?v }", values, _least),
    Shape("SUM and COUNT", "SELECT (SUM(?v) AS ?m) (COUNT(*) AS ?n) { ?x :v ?v }", values, _anywhere),
    Shape("COUNT DISTINCT", f"SELECT ?r (COUNT(DISTINCT ?n) AS ?m) {_OF_A_ROOM}", rooms, _names),
    Shape("GROUP_CONCAT of 250", f"SELECT ?r (GROUP_CONCAT(STR(?n)) AS ?all) {_OF_A_ROOM}", rooms, _names),
    Shape(
        "ORDER BY, OFFSET at half",
        lambda size: f"SELECT ?x ?v {{ ?x :v ?v }} ORDER BY ?v OFFSET {size // 2} LIMIT 10",
        values,
        _anywhere,
    ),
    Shape("ORDER BY, LIMIT", "SELECT ?x ?v { ?x :v ?v } ORDER BY DESC(?v) LIMIT 10", values, _greatest),
    Shape("DISTINCT", "SELECT DISTINCT ?r { ?l :in ?r }", rooms, _places),
    Shape("DISTINCT, ORDER BY, LIMIT", "SELECT DISTINCT ?r { ?l :in ?r } ORDER BY ?r LIMIT 10", rooms, _places),
)
