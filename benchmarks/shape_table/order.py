"""Rows that are compared with each other by their values: the greatest, the latest of each, what is above an average,
and what only equal values connect."""

from collections.abc import Iterator

from shape_table.nested import people
from shape_table.shape import Shape, cut, iri, put, scattered, triple
from tidings.model.terms import XSD, Quad

TOGGLES = 25
OF_A_SENSOR = 100
"""Readings that each sensor has."""


def ratings(size: int) -> Iterator[Quad]:
    """Each has a value of its own, in no order."""
    return (triple(f"x{number}", "v", number * 7919 % size) for number in range(size))


def greatest(size: int) -> Iterator[tuple[str, str]]:
    best = next(number for number in range(size) if number * 7919 % size == size - 1)
    return (cut(f"x{best}", "v", size - 1) for _ in range(TOGGLES))


def readings(size: int) -> Iterator[Quad]:
    """Sensors that say something every hour, as a double."""
    sensors = _sensors(size)
    for number in range(sensors * OF_A_SENSOR):
        hour = number // sensors
        yield triple(f"o{number}", "of", f"s{number % sensors}")
        yield iri(f"o{number}"), iri("at"), f'"2024-01-{hour // 24 + 1:02}T{hour % 24:02}:00:00Z"^^<{XSD}dateTime>', ""
        yield iri(f"o{number}"), iri("says"), _said(number), ""


def _sensors(size: int) -> int:
    return max(size // 3 // OF_A_SENSOR, 1)


def _said(number: int) -> str:
    return f'"{number * 7919 % 1000}.5"^^<{XSD}double>'


def newest(size: int) -> Iterator[tuple[str, str]]:
    """A reading that is later than all others of its sensor."""
    for number in range(TOGGLES):
        sensor, at = number * 7 % _sensors(size), f'"2024-02-01T00:00:{number:02}Z"^^<{XSD}dateTime>'
        text = f"{{ :new{number} :of :s{sensor} ; :at {at} ; :says {_said(number)} }}"
        yield f"INSERT DATA {text}", f"DELETE DATA {text}"


def _sayings(size: int) -> Iterator[tuple[str, str]]:
    for number in scattered(TOGGLES, _sensors(size) * OF_A_SENSOR):
        text = f"{{ :o{number} :says {_said(number)} }}"
        yield f"DELETE DATA {text}", f"INSERT DATA {text}"


def limited(size: int) -> Iterator[Quad]:
    """The same with a limit, which is an integer."""
    yield from readings(size)
    yield triple("config", "limit", 900)


def _limits(_: int) -> Iterator[tuple[str, str]]:
    """The limit goes up a little, and down again."""
    for number in range(TOGGLES):
        texts = [f"{{ :config :limit {limit} }}" for limit in (900, 901 + number)]
        yield f"DELETE DATA {texts[0]} ; INSERT DATA {texts[1]}", f"DELETE DATA {texts[1]} ; INSERT DATA {texts[0]}"


def limited_people(size: int) -> Iterator[Quad]:
    """People, with ages between which the young and the old are not."""
    yield from people(size)
    yield triple("config", "old", 60)
    yield triple("config", "young", 30)


def _old_ages(_: int) -> Iterator[tuple[str, str]]:
    """Who counts as old changes by a year, and back."""
    for _ in range(TOGGLES):
        texts = [f"{{ :config :old {age} }}" for age in (60, 61)]
        yield f"DELETE DATA {texts[0]} ; INSERT DATA {texts[1]}", f"DELETE DATA {texts[1]} ; INSERT DATA {texts[0]}"


def _aliases(size: int) -> Iterator[tuple[str, str]]:
    return (put(f"a{at}", "alias", f"name{at}") for at in scattered(TOGGLES, size // 5))


ORDER = (
    Shape(
        "nobody greater",
        "SELECT ?x { ?x :v ?v FILTER NOT EXISTS { ?y :v ?w FILTER (?w > ?v) } }",
        ratings,
        greatest,
    ),
    Shape(
        "the latest of each sensor",
        "SELECT ?s ?v { ?o :of ?s ; :at ?t ; :says ?v FILTER NOT EXISTS { ?n :of ?s ; :at ?u FILTER (?u > ?t) } }",
        readings,
        newest,
    ),
    Shape(
        "the latest of each, by MAX",
        "SELECT ?s ?v { ?o :of ?s ; :at ?t ; :says ?v "
        "{ SELECT ?s (MAX(?u) AS ?t) { ?n :of ?s ; :at ?u } GROUP BY ?s } }",
        readings,
        newest,
    ),
    Shape(
        "the latest of all, by MAX and =",
        "SELECT ?o { ?o :at ?t { SELECT (MAX(?u) AS ?m) { ?n :at ?u } } FILTER (?t = ?m) }",
        readings,
        newest,
    ),
    Shape(
        "above the average of doubles",
        "SELECT ?o { ?o :says ?a { SELECT (AVG(?b) AS ?m) { ?n :says ?b } } FILTER (?a > ?m) }",
        readings,
        _sayings,
    ),
    Shape(
        "above a limit among the data",
        "SELECT ?o { :config :limit ?l . ?o :of ?s ; :says ?a FILTER (?a > ?l) }",
        limited,
        _limits,
    ),
    Shape(
        "outside two limits",
        "SELECT ?p { :config :old ?o ; :young ?y . ?p :age ?a FILTER (?a > ?o || ?a < ?y) }",
        limited_people,
        _old_ages,
    ),
    Shape(
        "a limit inside NOT EXISTS",
        "SELECT ?p { ?p :name ?n FILTER NOT EXISTS { :config :old ?o . ?p :age ?a FILTER (?a > ?o) } }",
        limited_people,
        _old_ages,
    ),
    Shape(
        "a limit inside MINUS",
        "SELECT ?p { ?p :name ?n MINUS { :config :old ?o . ?p :age ?a FILTER (?a > ?o) } }",
        limited_people,
        _old_ages,
    ),
    Shape(
        "a limit inside OPTIONAL",
        "SELECT ?p ?a { ?p :name ?n OPTIONAL { :config :old ?o . ?p :age ?a FILTER (?a > ?o) } }",
        limited_people,
        _old_ages,
    ),
    Shape(
        "the oldest beyond a limit",
        "SELECT ?p { :config :old ?o . ?p :age ?a FILTER (?a > ?o) } ORDER BY DESC(?a) LIMIT 10",
        limited_people,
        _old_ages,
    ),
    Shape(
        "above its sensor's average",
        "SELECT ?o { ?o :of ?s ; :says ?a { SELECT ?s (AVG(?b) AS ?m) { ?n :of ?s ; :says ?b } GROUP BY ?s } "
        "FILTER (?a > ?m) }",
        readings,
        _sayings,
    ),
    Shape(
        "NOT EXISTS of an equal",
        "SELECT ?p { ?p :name ?n FILTER NOT EXISTS { ?q :alias ?m FILTER (STR(?m) = STR(?n)) } }",
        people,
        _aliases,
    ),
    Shape(
        "OPTIONAL of equals",
        "SELECT ?p ?q { ?p :name ?n OPTIONAL { ?q :alias ?m FILTER (STR(?m) = STR(?n)) } }",
        people,
        _aliases,
    ),
)
