"""The city is the paper's (Tables II, III, V and VI), and its workload gives the paper's hits and notifications."""

from collections import Counter
from collections.abc import Callable
from itertools import islice

import pyoxigraph as ox
import pytest

from tidings.bench.workloads import city
from tidings.bench.workloads.city import NS, OWL, ns
from tidings.model.terms import RDF_TYPE, Term, Triple, literal

Answer = frozenset[tuple[str, ...]]


@pytest.fixture(scope="module")
def triples() -> list[Triple]:
    return list(city.city())


@pytest.fixture(scope="module")
def document(triples: list[Triple]) -> bytes:
    return "".join(f"{s} {p} {o} .\n" for s, p, o in triples).encode()


@pytest.fixture
def store(document: bytes) -> ox.Store:
    """The city in an independent engine."""
    store = ox.Store()
    store.bulk_load(document, ox.RdfFormat.N_TRIPLES)
    return store


def instances(triples: list[Triple], kind: Term) -> int:
    return sum(1 for _, p, o in triples if p == RDF_TYPE and o == kind)


def answer(store: ox.Store, query: str) -> Answer:
    solutions = store.query(query)
    assert isinstance(solutions, ox.QuerySolutions)
    return frozenset(tuple(str(term) for term in row) for row in solutions)


def changed_answers(store: ox.Store, updates: list[str]) -> list[str]:
    """The subscriptions of the profile whose answer is another one after the updates."""
    before = [answer(store, query) for query in city.subscriptions()]
    for update in updates:
        store.update(update)
    return [query for query, old in zip(city.subscriptions(), before, strict=True) if answer(store, query) != old]


@pytest.mark.parametrize(
    ("kind", "count"), [("Class", 27), ("NamedIndividual", 26), ("ObjectProperty", 16), ("DatatypeProperty", 8)]
)
def test_the_ontology_has_the_sizes_of_table_ii(kind: str, count: int) -> None:
    assert instances(list(city.ontology()), f"<{OWL}{kind}>") == count


def test_every_property_of_the_ontology_is_used_and_no_other(triples: list[Triple]) -> None:
    used = {p for _, p, _ in triples if p.startswith(f"<{NS}")}
    assert used == {ns(name) for name in city.OBJECT_PROPERTIES | city.DATATYPE_PROPERTIES}


@pytest.mark.parametrize(
    ("kind", "count"),
    [("Road", 310), ("LampPost", 9500), ("Lamp", 9500), ("TemperatureSensor", 9500), ("PresenceSensor", 9500)],
)
def test_the_city_has_310_roads_and_9500_posts_with_a_lamp_and_two_sensors(
    triples: list[Triple], kind: str, count: int
) -> None:
    assert instances(triples, ns(kind)) == count


@pytest.mark.parametrize(("size", "thousands"), list(zip(city.SIZES, (35, 88, 175, 35), strict=True)))
def test_each_size_of_road_has_the_triples_of_table_ii(size: city.RoadSize, thousands: int) -> None:
    count = sum(len(list(city.road_triples(road))) for road in range(size.first, size.first + size.roads))
    assert count == pytest.approx(thousands * 1000, rel=0.02)


def test_the_city_has_about_334_thousand_triples_and_none_twice(triples: list[Triple]) -> None:
    assert len(triples) == pytest.approx(334_000, rel=0.01)
    assert len(set(triples)) == len(triples)


def test_every_subject_has_a_type(triples: list[Triple]) -> None:
    assert {s for s, _, _ in triples} == {s for s, p, _ in triples if p == RDF_TYPE}


def test_every_object_of_the_city_is_described_in_it(triples: list[Triple]) -> None:
    subjects = {s for s, _, _ in triples}
    assert {o for _, _, o in triples if o.startswith(f"<{NS}")} <= subjects


def test_terms_are_canonical(document: bytes, triples: list[Triple]) -> None:
    quads = list(islice(ox.parse(document, ox.RdfFormat.N_TRIPLES), 5000))
    assert [(str(q.subject), str(q.predicate), str(q.object)) for q in quads] == triples[: len(quads)]


def test_no_lamp_starts_at_the_value_that_updates_write(triples: list[Triple]) -> None:
    values = [o for _, p, o in triples if p == ns("hasDimmingValue")]
    assert len(values) == 9500
    assert literal("100") not in values


def test_the_same_seed_gives_the_same_city_and_another_seed_another(triples: list[Triple]) -> None:
    assert list(city.city(seed=city.SEED)) == triples
    assert set(city.city(seed=1)) != set(triples)


def test_a_larger_city_contains_the_smaller_one() -> None:
    assert set(city.city(0.02)) < set(city.city(0.05))


@pytest.mark.parametrize(("factor", "posts"), [(0.1, 950), (0.5, 4750), (1, 9500), (2, 19_000), (2.5, 23_750)])
def test_a_factor_scales_every_size_of_road(factor: float, posts: int) -> None:
    roads = city.roads(factor)
    assert len(set(roads)) == len(roads) == 310 * factor
    assert sum(city.posts_of_road(road) for road in roads) == posts
    counts = Counter(city.posts_of_road(road) for road in roads)
    assert counts == {size.posts: size.roads * factor for size in city.SIZES}


def test_the_smallest_city_has_one_road_of_each_size() -> None:
    assert city.roads(0.0001) == [1, 101, 201, 301]


@pytest.mark.parametrize("mistake", [lambda: city.roads(0), lambda: city.roads(-1), lambda: city.posts_of_road(0)])
def test_a_city_without_extent_and_a_road_zero_are_refused(mistake: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="0"):
        mistake()


def test_the_profiles_have_1004_subscriptions_and_310_updates_that_parse() -> None:
    empty = ox.Store()
    queries = city.subscriptions()
    assert len(set(queries)) == len(queries) == 1004
    for query in queries:
        assert answer(empty, query) == frozenset()
    for updates in (city.lamp_updates(), city.road_updates()):
        assert len(set(updates)) == len(updates) == 310
        for update in updates:
            empty.update(update)


def test_the_profile_monitors_1185_lamps() -> None:
    assert len(city.subscribed_lamps()) == 1000
    assert 1000 + sum(city.posts_of_road(road) for road in city.COARSE_ROADS) == 1185


def test_a_value_is_written_as_a_string_whatever_it_holds(store: ox.Store) -> None:
    store.update(city.update_lamp(1, 1, 'half "on"'))
    assert answer(store, city.subscribe_lamp(1, 1)) == {(literal('half "on"'),)}


def test_an_update_of_road_308_changes_its_100_lamps_and_no_other(store: ox.Store) -> None:
    store.update(city.update_road(308))
    lit = answer(store, f'SELECT ?lamp WHERE {{ ?lamp {ns("hasDimmingValue")} "100" }}')
    assert lit == {(ns(f"LAMP_308_{lamp}"),) for lamp in range(1, 101)}


def test_the_lamp_updates_change_the_answers_of_19_lamps_and_4_roads(store: ox.Store) -> None:
    changed = changed_answers(store, city.lamp_updates())
    assert changed == [
        *(city.subscribe_lamp(road, 1) for road in city.FINE_ROADS),
        *(city.subscribe_road(road) for road in city.COARSE_ROADS),
    ]
    assert len(changed) == 23


def test_the_road_updates_change_all_1004_answers(store: ox.Store) -> None:
    updates = city.road_updates()
    on_subscribed_roads = [updates[road - 1] for road in (*city.FINE_ROADS, *city.COARSE_ROADS)]
    assert len(changed_answers(store, on_subscribed_roads)) == 1004


def test_the_hit_rates_and_mean_update_sizes_are_the_papers() -> None:
    # A coarse subscription's LUTT holds (*, hasDimmingValue, *), so all 310 updates hit all 4 of them.
    n, m, coarse = 310, 1004, 310 * 4
    fine_hits_of_lamps = sum(1 for _, lamp in city.subscribed_lamps() if lamp == 1)
    assert fine_hits_of_lamps == 19
    assert (fine_hits_of_lamps + coarse) / (n * m) == pytest.approx(0.0040, abs=0.00005)
    assert (len(city.subscribed_lamps()) + coarse) / (n * m) == pytest.approx(0.0072, abs=0.00005)
    assert round(sum(city.posts_of_road(road) for road in range(1, 311)) / n) == 31
