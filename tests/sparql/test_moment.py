"""What depends on the moment: the clock is the one handed in, and chance is the one handed in."""

from random import Random

from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.results import Solutions

NOW = 1_700_000_000_123_456
STORE = [(f"<urn:s{n}>", "<urn:p>", '"x"', "") for n in range(3)]


def rows(text: str, core: Core | None = None, now: int = NOW) -> list[tuple[str | None, ...]]:
    result = (core or Core(Store(STORE))).query(text, now=now)
    assert isinstance(result, Solutions)
    return list(result.rows)


def test_now_is_the_instant_that_was_told() -> None:
    assert rows("SELECT (NOW() AS ?n) {}") == [
        ('"2023-11-14T22:13:20.123456Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>',)
    ]


def test_the_extension_function_gives_microseconds_since_1970() -> None:
    assert rows("SELECT (<urn:tidings:function:micros>() AS ?n) {}") == [
        (f'"{NOW}"^^<http://www.w3.org/2001/XMLSchema#integer>',)
    ]


def test_now_is_the_same_throughout_a_query_whatever_starts_meanwhile() -> None:
    core = Core(Store(STORE))
    result = core.query("SELECT (NOW() AS ?n) { ?s ?p ?o }", now=NOW)
    assert isinstance(result, Solutions)
    reading = iter(result.rows)
    first = next(reading)
    core.query("ASK {}", now=NOW + 1_000_000)
    assert next(reading) == first


def test_the_same_chance_gives_the_same_uuid_and_another_gives_another() -> None:
    text = "SELECT (UUID() AS ?u) (STRUUID() AS ?v) (RAND() AS ?r) {}"
    first, again = (rows(text, Core(random=Random(7))) for _ in range(2))
    assert first == again
    assert rows(text, Core(random=Random(8))) != first


def test_a_blank_node_by_name_is_one_node_throughout_a_solution_and_another_in_the_next() -> None:
    found = rows('SELECT (BNODE("a") AS ?x) (BNODE("a") AS ?y) (BNODE("b") AS ?z) (BNODE() AS ?w) { ?s ?p ?o }')
    assert all(x == y and len({x, z, w}) == 3 for x, y, z, w in found)
    assert len({x for x, *_ in found}) == len(STORE)
