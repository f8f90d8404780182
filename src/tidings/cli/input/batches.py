"""Divides statements into requests: INSERT DATA of a number of statements each.

Terms are in N-Triples syntax, which SPARQL reads as the same terms.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from tidings.model.terms import DEFAULT_GRAPH, Quad, Term

LARGEST = 4 << 20
"""Characters after which a batch ends, even if it has few statements: brokers limit the size of messages."""


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """A request, and the number of statements of the document up to its end. A batch that is loaded has no text."""

    end: int
    text: str


def batches(quads: Iterator[Quad], skipped: int, size: int) -> Iterator[LoadRequest]:
    """The requests for all quads but the first `skipped` ones, for which it yields batches without text."""
    end = 0
    while end < skipped:
        step = sum(1 for _ in islice(quads, min(size, skipped - end)))
        end += step
        yield LoadRequest(end, "")
        if not step:
            return
    while graphs := _group(quads, size):
        end += sum(map(len, graphs.values()))
        yield LoadRequest(end, _request(graphs))


def _group(quads: Iterable[Quad], size: int) -> dict[Term, list[str]]:
    """The next statements, by their graphs."""
    graphs: dict[Term, list[str]] = {}
    characters = 0
    for number, (s, p, o, g) in enumerate(quads, 1):
        line = f"{s} {p} {o} ."
        graphs.setdefault(g, []).append(line)
        characters += len(line)
        if number == size or characters >= LARGEST:
            break
    return graphs


def _request(graphs: dict[Term, list[str]]) -> str:
    parts = []
    for graph, lines in graphs.items():
        body = "\n".join(lines)
        parts.append(body if graph == DEFAULT_GRAPH else f"GRAPH {graph} {{\n{body}\n}}")
    return "INSERT DATA {\n" + "\n".join(parts) + "\n}"
