"""The smart-lighting city of the SPS benchmark (2016, section V): its ontology, its lamp posts, its workload.

    triples = T-Box + sum over roads (5 + 35 · posts)        334k for the paper's 310 roads and 9,500 posts

Roads 1 to 310 are the paper's city; road X + 310 · k is of the same size as road X. Every road draws from a random
stream of its own, so it reads the same in a city of any size, and a larger city contains the smaller one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tidings.model.terms import RDF_TYPE, XSD, Term, Triple, iri, literal

NS = "http://tidings.example/lighting#"
OWL = "http://www.w3.org/2002/07/owl#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
SEED = 2016

EPOCH_US = 1_460_000_000_000_000
"""The time of the first sensor reading: Unix time in microseconds, as all timestamps of the city."""
DAY_US = 86_400_000_000


@dataclass(frozen=True, slots=True)
class RoadSize:
    """A row of Table II: the roads `first`, `first + 1`, … of one size."""

    name: str
    road_class: str
    first: int
    roads: int
    posts: int


SIZES = (
    RoadSize("VERY_SMALL", "VerySmallRoad", first=1, roads=100, posts=10),
    RoadSize("SMALL", "SmallRoad", first=101, roads=100, posts=25),
    RoadSize("MEDIUM", "MediumRoad", first=201, roads=100, posts=50),
    RoadSize("LARGE", "LargeRoad", first=301, roads=10, posts=100),
)
PAPER_ROADS = sum(size.roads for size in SIZES)

SUPERCLASSES = {
    "Place": "", "Equipment": "", "Organisation": "", "Quality": "",
    "Road": "Place", "District": "Place", "Position": "Place",
    "VerySmallRoad": "Road", "SmallRoad": "Road", "MediumRoad": "Road", "LargeRoad": "Road",
    "LampPost": "Equipment", "Device": "Equipment", "Lamp": "Device", "Sensor": "Device",
    "LedLamp": "Lamp", "TraditionalLamp": "Lamp", "TemperatureSensor": "Sensor", "PresenceSensor": "Sensor",
    "Manufacturer": "Organisation", "Maintainer": "Organisation",
    "LampStatus": "Quality", "LampType": "Quality", "SensorType": "Quality", "UnitOfMeasurement": "Quality",
    "RoadType": "Quality", "Material": "Quality",
}  # fmt: skip
INDIVIDUALS = {
    "LampStatus": ("ON", "OFF", "BROKEN"),
    "LampType": ("LED", "TRADITIONAL"),
    "SensorType": ("TEMPERATURE", "PRESENCE"),
    "UnitOfMeasurement": ("CELSIUS", "FAHRENHEIT", "BOOLEAN"),
    "RoadType": tuple(size.name for size in SIZES),
    "District": ("CENTRE", "NORTH", "EAST", "SOUTH", "WEST"),
    "Manufacturer": ("LUX", "CANDELA", "LUMEN"),
    "Maintainer": ("DAY_SHIFT", "NIGHT_SHIFT"),
    "Material": ("STEEL", "ALUMINIUM"),
}
OBJECT_PROPERTIES = {  # domain, range
    "isConnectedTo": ("Road", "LampPost"),
    "belongsToRoad": ("LampPost", "Road"),
    "hasLamp": ("LampPost", "Lamp"),
    "isLampOf": ("Lamp", "LampPost"),
    "hasSensor": ("LampPost", "Sensor"),
    "isSensorOf": ("Sensor", "LampPost"),
    "hasPosition": ("LampPost", "Position"),
    "hasStatus": ("Lamp", "LampStatus"),
    "hasLampType": ("Lamp", "LampType"),
    "hasSensorType": ("Sensor", "SensorType"),
    "hasUnit": ("Sensor", "UnitOfMeasurement"),
    "hasRoadType": ("Road", "RoadType"),
    "isLocatedIn": ("Road", "District"),
    "isMadeBy": ("Device", "Manufacturer"),
    "isMaintainedBy": ("LampPost", "Maintainer"),
    "hasMaterial": ("LampPost", "Material"),
}
INVERSES = {"belongsToRoad": "isConnectedTo", "isLampOf": "hasLamp", "isSensorOf": "hasSensor"}
DATATYPE_PROPERTIES = {  # domain, range; values that the paper's updates write are plain strings
    "hasName": ("Road", "string"),
    "hasIdentifier": ("LampPost", "string"),
    "hasDimmingValue": ("Lamp", "string"),
    "hasPower": ("Lamp", "integer"),
    "hasValue": ("Sensor", "string"),
    "hasTimestamp": ("Sensor", "integer"),
    "hasLatitude": ("Position", "decimal"),
    "hasLongitude": ("Position", "decimal"),
}


def ns(name: str) -> Term:
    """The IRI of a name of the city."""
    return f"<{NS}{name}>"


def size_of(road: int) -> RoadSize:
    if road < 1:
        raise ValueError(f"roads are numbered from 1, so there is no road {road}")
    within = (road - 1) % PAPER_ROADS + 1
    return next(size for size in reversed(SIZES) if within >= size.first)


def posts_of_road(road: int) -> int:
    return size_of(road).posts


def roads(factor: float = 1.0) -> list[int]:
    """The roads of a city `factor` times the paper's, in order; at least one of each size."""
    if factor <= 0:
        raise ValueError(f"a city's factor is greater than 0, not {factor:g}")
    return sorted(
        size.first + n % size.roads + n // size.roads * PAPER_ROADS
        for size in SIZES
        for n in range(max(1, round(factor * size.roads)))
    )


def city(factor: float = 1.0, seed: int = SEED) -> Iterator[Triple]:
    """The whole knowledge base, triple by triple: the ontology first, then road after road."""
    yield from ontology()
    for road in roads(factor):
        yield from road_triples(road, seed)


def ontology() -> Iterator[Triple]:
    """The T-Box: 27 classes, 26 individuals, 16 object properties and 8 datatype properties."""
    yield iri(NS.rstrip("#")), RDF_TYPE, iri(f"{OWL}Ontology")
    for name, parent in SUPERCLASSES.items():
        yield ns(name), RDF_TYPE, iri(f"{OWL}Class")
        if parent:
            yield ns(name), iri(f"{RDFS}subClassOf"), ns(parent)
    for kind, names in INDIVIDUALS.items():
        for name in names:
            yield ns(name), RDF_TYPE, iri(f"{OWL}NamedIndividual")
            yield ns(name), RDF_TYPE, ns(kind)
    for name, (domain, target) in OBJECT_PROPERTIES.items():
        yield from _property(name, "ObjectProperty", domain, ns(target))
    for name, (domain, datatype) in DATATYPE_PROPERTIES.items():
        yield from _property(name, "DatatypeProperty", domain, iri(f"{XSD}{datatype}"))
    for name, inverse in INVERSES.items():
        yield ns(name), iri(f"{OWL}inverseOf"), ns(inverse)


def _property(name: str, kind: str, domain: str, target: Term) -> Iterator[Triple]:
    yield ns(name), RDF_TYPE, iri(f"{OWL}{kind}")
    yield ns(name), iri(f"{RDFS}domain"), ns(domain)
    yield ns(name), iri(f"{RDFS}range"), target


def road_triples(road: int, seed: int = SEED) -> Iterator[Triple]:
    """A road and everything on it: 5 triples, and 35 for each post."""
    size = size_of(road)
    rng = Random(f"{seed}/{road}")
    latitude, longitude = rng.uniform(44.46, 44.53), rng.uniform(11.28, 11.40)
    subject = f"ROAD_{road}"
    yield from _describe(
        subject,
        "Road",
        size.road_class,
        hasName=literal(f"Road {road}"),
        hasRoadType=ns(size.name),
        isLocatedIn=_one_of(rng, "District"),
    )
    for post in range(1, size.posts + 1):
        place = f"{road}_{post}"
        yield ns(subject), ns("isConnectedTo"), ns(f"POST_{place}")
        yield from _post(rng, place, subject)
        yield from _position(place, latitude, longitude + post * 0.0003)  # about 24 m from post to post
        yield from _lamp(rng, place)
        unit, value = _temperature(rng)
        yield from _sensor(rng, place, "Temperature", unit, value)
        yield from _sensor(rng, place, "Presence", "BOOLEAN", rng.choice(("True", "False")))


def _post(rng: Random, place: str, road: str) -> Iterator[Triple]:
    return _describe(
        f"POST_{place}",
        "LampPost",
        hasIdentifier=literal(f"POST_{place}"),
        belongsToRoad=ns(road),
        hasPosition=ns(f"POSITION_{place}"),
        hasLamp=ns(f"LAMP_{place}"),
        hasMaterial=_one_of(rng, "Material"),
        isMaintainedBy=_one_of(rng, "Maintainer"),
    )


def _position(place: str, latitude: float, longitude: float) -> Iterator[Triple]:
    return _describe(
        f"POSITION_{place}",
        "Position",
        hasLatitude=literal(f"{latitude:.6f}", f"{XSD}decimal"),
        hasLongitude=literal(f"{longitude:.6f}", f"{XSD}decimal"),
    )


def _lamp(rng: Random, place: str) -> Iterator[Triple]:
    led = rng.random() < 0.6
    return _describe(
        f"LAMP_{place}",
        "Lamp",
        "LedLamp" if led else "TraditionalLamp",
        hasStatus=ns(rng.choices(INDIVIDUALS["LampStatus"], weights=(60, 37, 3))[0]),
        hasDimmingValue=literal(str(rng.randrange(100))),  # never "100": the first update of every lamp is a change
        hasLampType=ns("LED" if led else "TRADITIONAL"),
        hasPower=literal(str(rng.randrange(20, 90) if led else rng.randrange(70, 250)), f"{XSD}integer"),
        isLampOf=ns(f"POST_{place}"),
        isMadeBy=_one_of(rng, "Manufacturer"),
    )


def _sensor(rng: Random, place: str, kind: str, unit: str, value: str) -> Iterator[Triple]:
    name = f"{kind.upper()}_SENSOR_{place}"
    yield ns(f"POST_{place}"), ns("hasSensor"), ns(name)
    yield from _describe(
        name,
        f"{kind}Sensor",
        hasSensorType=ns(kind.upper()),
        hasUnit=ns(unit),
        hasValue=literal(value),
        hasTimestamp=literal(str(EPOCH_US + rng.randrange(DAY_US)), f"{XSD}integer"),
        isSensorOf=ns(f"POST_{place}"),
        isMadeBy=_one_of(rng, "Manufacturer"),
    )


def _temperature(rng: Random) -> tuple[str, str]:
    celsius = rng.randrange(-5, 39)
    return ("CELSIUS", str(celsius)) if rng.random() < 0.9 else ("FAHRENHEIT", str(round(celsius * 1.8 + 32)))


def _one_of(rng: Random, kind: str) -> Term:
    return ns(rng.choice(INDIVIDUALS[kind]))


def _describe(subject: str, *classes: str, **facts: Term) -> Iterator[Triple]:
    term = ns(subject)
    for name in classes:
        yield term, RDF_TYPE, ns(name)
    for predicate, value in facts.items():
        yield term, ns(predicate), value


PREFIX = f"PREFIX ns: <{NS}>\n"
LAMPS_OF_ROAD = (
    "?lamp ns:hasDimmingValue ?dimming . ?post ns:hasLamp ?lamp . ?road ns:isConnectedTo ?post . "
    "FILTER(?road = ns:ROAD_{})"
)

FINE_ROADS = (*range(1, 6), *range(101, 105), *range(201, 204), *range(301, 308))
"""The roads with a subscription for every lamp."""
COARSE_ROADS = (6, 105, 204, 308)
"""The roads with one subscription for all their lamps."""


def update_lamp(road: int, lamp: int, value: str = "100") -> str:
    dimming = f"ns:LAMP_{road}_{lamp} ns:hasDimmingValue"
    return (
        f"{PREFIX}DELETE {{ {dimming} ?dimming }}\n"
        f"INSERT {{ {dimming} {literal(value)} }}\n"
        f"WHERE {{ {dimming} ?dimming }}"
    )


def update_road(road: int, value: str = "100") -> str:
    return (
        f"{PREFIX}DELETE {{ ?lamp ns:hasDimmingValue ?dimming }}\n"
        f"INSERT {{ ?lamp ns:hasDimmingValue {literal(value)} }}\n"
        f"WHERE {{ {LAMPS_OF_ROAD.format(road)} }}"
    )


def subscribe_lamp(road: int, lamp: int) -> str:
    return f"{PREFIX}SELECT ?dimming WHERE {{ ns:LAMP_{road}_{lamp} ns:hasDimmingValue ?dimming }}"


def subscribe_road(road: int) -> str:
    return f"{PREFIX}SELECT ?lamp ?dimming WHERE {{ {LAMPS_OF_ROAD.format(road)} }}"


def subscribed_lamps() -> list[tuple[int, int]]:
    """Road and lamp of each of the 1000 fine-grain subscriptions, in the paper's order."""
    return [(road, lamp) for road in FINE_ROADS for lamp in range(1, posts_of_road(road) + 1)]


def subscriptions() -> list[str]:
    """The subscription profile S: 1000 lamps, then 4 roads."""
    fine = [subscribe_lamp(road, lamp) for road, lamp in subscribed_lamps()]
    return fine + [subscribe_road(road) for road in COARSE_ROADS]


def lamp_updates(value: str = "100") -> list[str]:
    """The update profile LAMP: the first lamp of every road of the paper's city."""
    return [update_lamp(road, 1, value) for road in range(1, PAPER_ROADS + 1)]


def road_updates(value: str = "100") -> list[str]:
    """The update profile ROAD: all the lamps of a road, for every road of the paper's city."""
    return [update_road(road, value) for road in range(1, PAPER_ROADS + 1)]
