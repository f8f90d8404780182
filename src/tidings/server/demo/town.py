"""The initial data of the city: all lamps that are not broken are off, and every sensor reads False.

The city has a graph of its own, so that the default graph stays free for users, and one update drops the city.
"""

from collections.abc import Iterator

from tidings.bench.workloads.city import NS, city, ns
from tidings.model.terms import Quad, iri, literal

GRAPH = "urn:tidings:demo"
FACTOR = 0.05
"""The size of the city: 16 roads with 525 lamp posts, which are 19k triples and load in a moment."""
LIGHTS = f"PREFIX : <{NS}> SELECT ?lamp WHERE {{ GRAPH <{GRAPH}> {{ ?lamp :hasStatus :ON }} }}"
"""A query for the lamps that are on, as an example to subscribe to."""

_STATUS, _VALUE = ns("hasStatus"), ns("hasValue")
_SENSORS = ns("PRESENCE_SENSOR_")[:-1]


def town(factor: float = FACTOR) -> Iterator[Quad]:
    """The quads of the city, in its graph."""
    graph = iri(GRAPH)
    for s, p, o in city(factor):
        if p == _STATUS and o == ns("ON"):
            yield s, p, ns("OFF"), graph
        elif p == _VALUE and s.startswith(_SENSORS):
            yield s, p, literal("False"), graph
        else:
            yield s, p, o, graph


def insertion(factor: float) -> str:
    """The update that inserts the city, for clients of a broker."""
    triples = "\n".join(f"{s} {p} {o} ." for s, p, o, _ in town(factor))
    return f"INSERT DATA {{ GRAPH <{GRAPH}> {{\n{triples}\n}} }}"
