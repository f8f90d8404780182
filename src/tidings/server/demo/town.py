"""The city before anybody walks there: all lamps that are not broken are off, and every sensor reads False.

It lives in a graph of its own, so that the default graph is its owner's, and one update drops it all.
"""

from collections.abc import Iterator

from tidings.bench.workloads.city import NS, city, ns
from tidings.model.terms import Quad, iri, literal

GRAPH = "urn:tidings:demo"
FACTOR = 0.05
"""16 roads with 525 lamp posts: 19k triples, which load in a moment."""
LIGHTS = f"PREFIX : <{NS}> SELECT ?lamp WHERE {{ GRAPH <{GRAPH}> {{ ?lamp :hasStatus :ON }} }}"
"""The lamps that are on: what to subscribe to for watching."""

_STATUS, _VALUE = ns("hasStatus"), ns("hasValue")
_SENSORS = ns("PRESENCE_SENSOR_")[:-1]


def town(factor: float = FACTOR) -> Iterator[Quad]:
    """The city at night, in its graph."""
    graph = iri(GRAPH)
    for s, p, o in city(factor):
        if p == _STATUS and o == ns("ON"):
            yield s, p, ns("OFF"), graph
        elif p == _VALUE and s.startswith(_SENSORS):
            yield s, p, literal("False"), graph
        else:
            yield s, p, o, graph


def insertion(factor: float) -> str:
    """The update that builds it, for a broker that one is a client of."""
    triples = "\n".join(f"{s} {p} {o} ." for s, p, o, _ in town(factor))
    return f"INSERT DATA {{ GRAPH <{GRAPH}> {{\n{triples}\n}} }}"
