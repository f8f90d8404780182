"""Joins of many patterns, through hubs, planned for an empty store; IN, OPTIONAL, MINUS, UNION, BIND."""

from collections.abc import Iterator

from shape_table.shape import Shape, cut, put, scattered, triple
from tidings.model.terms import Quad

TOGGLES = 25


def railway(size: int) -> Iterator[Quad]:
    """Routes with switches and sensors, along segments that are connected."""
    routes = max(size // 36, 4)
    for r in range(routes):
        yield triple(f"r{r}", "a", "Route")
        yield triple(f"r{r}", "entry", f"s{r}")
        yield triple(f"r{r}", "exit", f"s{(r + 1) % routes}")
        yield triple(f"s{r}", "a", "Semaphore")
        for k in range(6):
            sensor, segment = f"d{r}_{k}", f"t{r}_{k}"
            yield triple(f"r{r}", "requires", sensor)
            yield triple(sensor, "a", "Sensor")
            yield triple(segment, "monitoredBy", sensor)
            yield triple(segment, "a", "Segment")
            yield triple(segment, "connectsTo", f"t{r}_{k + 1}" if k < 5 else f"t{(r + 1) % routes}_0")


_ROUTES = """SELECT ?a ?b { ?r1 :exit ?s . ?r1 :requires ?d1 . ?t1 :monitoredBy ?d1 . ?t1 :connectsTo ?t2 .
    ?t2 :monitoredBy ?d2 . ?r2 :requires ?d2 . ?r2 :entry ?e . ?d1 :a :Sensor . ?d2 :a :Sensor . ?s :a :Semaphore .
    ?t1 :a :Segment . ?t2 :a :Segment
    FILTER (?r1 != ?r2) BIND (?r1 AS ?a) BIND (?r2 AS ?b) FILTER NOT EXISTS { ?r2 :entry ?s } }"""


def _entries(size: int) -> Iterator[tuple[str, str]]:
    return (cut(f"r{r}", "entry", f"s{r}") for r in scattered(TOGGLES, max(size // 36, 4)))


def _connections(size: int) -> Iterator[tuple[str, str]]:
    return (cut(f"t{r}_2", "connectsTo", f"t{r}_3") for r in scattered(TOGGLES, max(size // 36, 4)))


def city(size: int) -> Iterator[Quad]:
    """Roads with posts with lamps; everything has a class, so classes are hubs."""
    for lamp in range(size // 5):
        yield triple(f"road{lamp // 100}", "along", f"post{lamp // 4}")
        yield triple(f"post{lamp // 4}", "has", f"lamp{lamp}")
        yield triple(f"lamp{lamp}", "a", "Lamp")
        yield triple(f"lamp{lamp}", "dim", lamp * 7919 % 1000)
        yield triple(f"road{lamp // 100}", "in", f"district{lamp // 1000}")


_SIX = """SELECT ?district ?lamp ?d { ?road :in ?district . ?road :along ?post . ?post :has ?lamp .
    ?lamp :a :Lamp . ?lamp :dim ?d . ?district :open ?when }"""


def _six(size: int) -> Iterator[Quad]:
    yield from city(size)
    yield from (triple(f"district{number}", "open", number) for number in range(size // 5000 + 1))


def _dims(size: int) -> Iterator[tuple[str, str]]:
    return (cut(f"lamp{lamp}", "dim", lamp * 7919 % 1000) for lamp in scattered(TOGGLES, size // 5))


def _faults(size: int) -> Iterator[tuple[str, str]]:
    return (put(f"lamp{lamp}", "fault", lamp) for lamp in scattered(TOGGLES, size // 5))


def _hub(_: int) -> Iterator[tuple[str, str]]:
    return (put(f"visitor{number}", "likes", "Lamp") for number in range(TOGGLES))


def travellers(size: int) -> Iterator[Quad]:
    """Nine in ten live in one country, and each of the others in one of their own; three of them are guides."""
    count = size // 2
    for number in range(count):
        yield triple(f"p{number}", "country", f"c{number}" if number % 10 == 0 else "hub")
        yield triple(f"p{number}", "name", f"name{number}")
    yield from (triple(f"p{number * count // 4 // 10 * 10 + 1}", "guides", number) for number in range(3))


def _visits(_: int) -> Iterator[tuple[str, str]]:
    return (put(f"v{number}", "visits", "hub") for number in range(TOGGLES))


def _many(_: int) -> str:
    terms = ", ".join(f":lamp{number}" for number in range(1000))
    return f"SELECT ?lamp ?d {{ ?lamp :dim ?d FILTER (?lamp IN ({terms})) }}"


JOINS = (
    Shape("six patterns, planned when empty", _SIX, _six, _dims, early=True),
    Shape("six patterns", _SIX, _six, _dims),
    Shape("railway, an entry", _ROUTES, railway, _entries),
    Shape("railway, a connection", _ROUTES, railway, _connections),
    Shape("through a hub", "SELECT ?v ?l { ?v :likes ?c . ?l :a ?c . :road0 :along ?p . ?p :has ?l }", city, _hub),
    Shape(
        "a hub among small ones",
        "SELECT ?v ?p { ?v :visits ?c . ?p :country ?c . ?p :guides ?n }",
        travellers,
        _visits,
    ),
    Shape("IN, 1,000 terms", _many, city, _dims),
    Shape("OPTIONAL", "SELECT ?l ?f { ?l :dim ?d OPTIONAL { ?l :fault ?f } }", city, _faults),
    Shape("MINUS", "SELECT ?l { ?l :dim ?d MINUS { ?l :fault ?f . ?l :a :Lamp } }", city, _faults),
    Shape("UNION", "SELECT ?l ?x { ?p :has ?l { ?l :dim ?x } UNION { ?l :fault ?x } }", city, _faults),
    Shape("BIND and FILTER", "SELECT ?l ?y { ?l :dim ?d BIND (?d * 2 AS ?y) FILTER (?y > 500) }", city, _dims),
)
