"""The notation of sets of graphs, in grants, options and requests:

http://example.org/city/lamps    one graph, by its IRI
http://example.org/city/*        all whose IRIs begin so
default                          the graph without a name
*                                all there are and ever will be
"""

from collections.abc import Iterable

from tidings.model.access import Graphs
from tidings.model.errors import BadRequest
from tidings.model.formats.grammar import ABSOLUTE_IRI
from tidings.model.terms import DEFAULT_GRAPH, iri, iri_text

ALL, DEFAULT = "*", "default"


def wrong_with(pattern: str) -> str | None:
    """The message for an invalid pattern; None if it is valid."""
    if pattern in (ALL, DEFAULT):
        return None
    name = pattern.removesuffix("*")
    if "*" in name:
        return f"{pattern!r} has a * that is not at its end"
    if not ABSOLUTE_IRI.fullmatch(name):
        return f"{pattern!r} is no absolute IRI, IRI with * at its end, default or *"
    scheme, slashes, rest = name.partition("://")
    if pattern != name and slashes and "/" not in rest:
        return f"{pattern!r} would have other hosts that begin so; write {scheme}://{rest}/*"
    return None


def graphs(patterns: Iterable[str]) -> Graphs:
    """The graphs that valid patterns stand for."""
    names: list[str] = []
    prefixes: list[str] = []
    for pattern in patterns:
        if pattern == ALL:
            return Graphs.ALL
        if pattern.endswith("*"):
            prefixes.append(pattern[:-1])
        else:
            names.append(DEFAULT_GRAPH if pattern == DEFAULT else iri(pattern))
    return Graphs(names=frozenset(names), prefixes=tuple(prefixes))


def read_graphs(patterns: Iterable[str]) -> Graphs:
    """The graphs that patterns stand for. Raises BadRequest for an invalid pattern."""
    found = list(patterns)
    for pattern in found:
        if wrong := wrong_with(pattern):
            raise BadRequest(f"graphs: {wrong}")
    return graphs(found)


def written(some: Graphs) -> list[str]:
    """The patterns that `read_graphs` reads as the same graphs. Raises BadRequest if no patterns stand for exactly
    these graphs, because others would stand for more graphs."""
    if some.everything:
        return [ALL]
    names = [DEFAULT if name == DEFAULT_GRAPH else iri_text(name) for name in sorted(some.names)]
    found = [*names, *(f"{prefix}*" for prefix in some.prefixes)]
    if read_graphs(found) != some:
        raise BadRequest("these graphs cannot be written as patterns")
    return found
