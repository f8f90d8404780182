"""Common idioms: queries for missing things, for values above others, and for shares of a whole; and hubs in them."""

from collections.abc import Iterator

from shape_table.order import greatest, newest, ratings, readings
from shape_table.shape import Shape, cut, put, scattered, triple
from tidings.model.terms import Quad

TOGGLES = 25


def followers(size: int) -> Iterator[Quad]:
    """Everybody follows two others, and one in thirty somebody whom everybody knows, who follows as many."""
    count = size // 4
    for number in range(count):
        yield triple(f"p{number}", "knows", f"p{(number * 31 + 7) % count}")
        yield triple(f"p{number}", "knows", f"p{(number * 17 + 3) % count}")
        yield triple(f"p{number}", "lives", f"city{number % max(count // 50, 1)}")
        if number % 30 == 1:
            yield triple(f"p{number}", "knows", "star")
            yield triple("star", "knows", f"p{number}")


def _of_the_star(size: int) -> Iterator[tuple[str, str]]:
    """Among those whom the star follows."""
    return (cut("star", "knows", f"p{at * 30 + 1}") for at in scattered(TOGGLES, size // 120))


def river(size: int) -> Iterator[Quad]:
    """Brooks that flow into others; one in a hundred has a gauge."""
    count = size * 9 // 10
    yield from (triple(f"b{number}", "into", f"b{(number - 1) // 2}") for number in range(1, count))
    yield from (triple(f"b{number}", "gauge", number) for number in range(0, count, 100))


def _brooks(_: int) -> Iterator[tuple[str, str]]:
    """Brooks that come at the mouth."""
    return (put(f"new{number}", "into", "b0") for number in range(TOGGLES))


def devices(size: int) -> Iterator[Quad]:
    """Everything is of one of five makers, and has a load."""
    for number in range(size // 2):
        yield triple(f"d{number}", "of", f"maker{number % 5}")
        yield triple(f"d{number}", "load", number * 7919 % 1000)


def _loads(size: int) -> Iterator[tuple[str, str]]:
    return (cut(f"d{at}", "load", at * 7919 % 1000) for at in scattered(TOGGLES, size // 2))


def big_ones(size: int) -> Iterator[Quad]:
    """The same, and one in fifty is big."""
    yield from devices(size)
    yield from (triple(f"d{number}", "is", "Big") for number in range(0, size // 2, 50))


def _greatest_loads(size: int) -> Iterator[tuple[str, str]]:
    """Those before whom nobody comes, or hardly anybody."""
    best = sorted(range(0, size // 2, 50), key=lambda number: -(number * 7919 % 1000))[:TOGGLES]
    return (put(f"d{at}", "load", 1000 + at) for at in best)


IDIOMS = (
    Shape(
        "nobody greater, by !BOUND",
        "SELECT ?x { ?x :v ?v OPTIONAL { ?y :v ?w FILTER (?w > ?v) } FILTER (!BOUND(?y)) }",
        ratings,
        greatest,
    ),
    Shape(
        "the latest of each, by !BOUND",
        "SELECT ?s ?v { ?o :of ?s ; :at ?t ; :says ?v OPTIONAL { ?n :of ?s ; :at ?u FILTER (?u > ?t) } "
        "FILTER (!BOUND(?n)) }",
        readings,
        newest,
    ),
    Shape(
        "OPTIONAL in OPTIONAL, past a hub",
        "SELECT * { ?p :lives :city0 OPTIONAL { ?p :knows ?q OPTIONAL { ?q :knows ?r FILTER (?r != ?p) } } }",
        followers,
        _of_the_star,
    ),
    Shape(
        "paths of many roots, an edge at the far end",
        "SELECT ?a ?b { ?a :gauge ?x . ?a :into+ ?b FILTER NOT EXISTS { ?b :into ?c } }",
        river,
        _brooks,
    ),
    Shape(
        "above its maker's average",
        "SELECT ?d { ?d :of ?m ; :load ?l { SELECT ?m (AVG(?k) AS ?a) { ?x :of ?m ; :load ?k } GROUP BY ?m } "
        "FILTER (?l > ?a) }",
        devices,
        _loads,
    ),
    Shape(
        "no other of its maker greater",
        "SELECT ?d { ?d :of ?m ; :load ?l FILTER NOT EXISTS { ?x :of ?m ; :load ?k FILTER (?k > ?l && ?x != ?d) } }",
        devices,
        _loads,
    ),
    Shape(
        "how many are above average",
        "SELECT (COUNT(*) AS ?n) { ?d :load ?l { SELECT (AVG(?k) AS ?a) { ?x :load ?k } } FILTER (?l > ?a) }",
        devices,
        _loads,
    ),
    Shape(
        "shares of a total",
        "SELECT ?m (SUM(?l) / ?t AS ?share) { ?d :of ?m ; :load ?l { SELECT (SUM(?k) AS ?t) { ?x :load ?k } } } "
        "GROUP BY ?m ?t",
        devices,
        _loads,
    ),
    Shape(
        "ranks of one in fifty",
        "SELECT ?x (COUNT(?y) AS ?rank) { ?x :is :Big ; :load ?v "
        "OPTIONAL { ?y :is :Big ; :load ?w FILTER (?w > ?v) } } GROUP BY ?x",
        big_ones,
        _greatest_loads,
    ),
    Shape(
        "between two aggregates",
        "SELECT ?d { ?d :load ?l { SELECT (AVG(?k) AS ?a) (MAX(?k) AS ?b) { ?x :load ?k } } "
        "FILTER (?l > ?a && ?l < ?b) }",
        devices,
        _loads,
    ),
)
