"""Comparisons with NOW(), and its hour: a second passes before each update, and in each second one lease ends."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from measure import NOW
from shape_table.shape import EX, Shape, cut, iri, put, scattered, triple
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


def offices(size: int) -> Iterator[Quad]:
    """The same with an hour at which each opens, and with a time for which it goes on after the lease."""
    for number, quad in enumerate(leases(size // 2)):
        yield quad
        if number % 2:
            room = number // 2
            yield triple(f"r{room}", "opens", room % 24)
            yield iri(f"r{room}"), iri("grace"), f'"PT{room % 5}S"^^<{XSD}dayTimeDuration>', ""


def floors(size: int) -> Iterator[Quad]:
    """Leases in graphs of twenty rooms."""
    for s, p, o, _ in leases(size):
        yield s, p, o, iri(f"floor{_floor(int(s.removeprefix(f'<{EX}r')[:-1]))}")


def _floor(room: int) -> int:
    return room // 20


def _names_on_floors(size: int) -> Iterator[tuple[str, str]]:
    for at in scattered(TOGGLES, size // 2):
        text = f"{{ GRAPH :floor{_floor(at)} {{ :r{at} :name :name{at % 50} }} }}"
        yield f"DELETE DATA {text}", f"INSERT DATA {text}"


def _names_of_offices(size: int) -> Iterator[tuple[str, str]]:
    return _names(size // 2)


def _openings(size: int) -> Iterator[tuple[str, str]]:
    return (cut(f"r{at}", "opens", at % 24) for at in scattered(TOGGLES, size // 4))


def _names(size: int) -> Iterator[tuple[str, str]]:
    return (cut(f"r{at}", "name", f"name{at % 50}") for at in scattered(TOGGLES, size // 2))


def _others(_: int) -> Iterator[tuple[str, str]]:
    return (put(f"x{at}", "other", at) for at in range(TOGGLES))


_OPEN = "SELECT ?r { ?r :opens ?h FILTER (?h = HOURS(NOW())) }"

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
            ("a sub-SELECT in EXISTS", "FILTER EXISTS { SELECT ?r { ?r :until ?t FILTER (?t > NOW()) } }"),
        )
    ),
    Shape(
        "NOW(): in NOT EXISTS in GRAPH ?g",
        "SELECT ?g ?r { GRAPH ?g { ?r :name ?n FILTER NOT EXISTS { ?r :until ?t FILTER (?t > NOW()) } } }",
        floors,
        _names_on_floors,
        passing=SECOND,
    ),
    *(
        Shape(
            f"NOW(): with what is outside {name}",
            f"SELECT * {{ ?r :name ?n ; :grace ?d {inside} }}",
            offices,
            _names_of_offices,
            passing=SECOND,
        )
        for name, inside in (
            ("OPTIONAL", "OPTIONAL { ?r :until ?t FILTER (?t > NOW() - ?d) }"),
            ("NOT EXISTS", "FILTER NOT EXISTS { ?r :until ?t FILTER (?t > NOW() - ?d) }"),
        )
    ),
    Shape("HOURS(NOW()): an hour", _OPEN, offices, _openings, passing=SECOND),
    Shape("HOURS(NOW()): a new hour each time", _OPEN, offices, _openings, passing=3600 * SECOND),
)
