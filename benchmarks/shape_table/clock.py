"""Comparisons with NOW(): a second passes before each update, and in each second one lease ends."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from measure import NOW
from shape_table.shape import Shape, cut, iri, put, scattered, triple
from tidings.model.terms import XSD, Quad

SECOND = 1_000_000
TOGGLES = 25


def leases(size: int) -> Iterator[Quad]:
    """Rooms with a name and a lease; one ends in each second."""
    for number in range(size // 2):
        end = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=NOW + (number + 1) * SECOND)
        until = f'"{end.isoformat()}"^^<{XSD}dateTime>'
        yield iri(f"r{number}"), iri("until"), until, ""
        yield triple(f"r{number}", "name", f"name{number % 50}")


def _names(size: int) -> Iterator[tuple[str, str]]:
    return (cut(f"r{at}", "name", f"name{at % 50}") for at in scattered(TOGGLES, size // 2))


def _others(_: int) -> Iterator[tuple[str, str]]:
    return (put(f"x{at}", "other", at) for at in range(TOGGLES))


CLOCK = (
    Shape("NOW(): a lease ends", "SELECT ?r { ?r :until ?t FILTER (?t > NOW()) }", leases, _others, passing=SECOND),
    Shape(
        "NOW(): a lease ends, a name goes",
        "SELECT ?r ?n { ?r :until ?t ; :name ?n FILTER (?t > NOW()) }",
        leases,
        _names,
        passing=SECOND,
    ),
    Shape(
        "NOW(): leases counted by name",
        "SELECT ?n (COUNT(*) AS ?c) { ?r :until ?t ; :name ?n FILTER (?t > NOW()) } GROUP BY ?n",
        leases,
        _names,
        passing=SECOND,
    ),
    Shape(
        "NOW(): what state a lease is in",
        "SELECT ?r ?s { ?r :until ?t BIND (IF(?t > NOW(), 'open', 'closed') AS ?s) }",
        leases,
        _others,
        passing=SECOND,
    ),
    *(
        Shape(f"NOW(): inside {name}", f"SELECT * {{ ?r :name ?n {inside} }}", leases, _names, passing=SECOND)
        for name, inside in (
            ("OPTIONAL", "OPTIONAL { ?r :until ?t FILTER (?t > NOW()) }"),
            ("MINUS", "MINUS { ?r :until ?t FILTER (?t > NOW()) }"),
            ("NOT EXISTS", "FILTER NOT EXISTS { ?r :until ?t FILTER (?t > NOW()) }"),
        )
    ),
)
