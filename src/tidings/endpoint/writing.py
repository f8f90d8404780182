"""Writes states of quads as SPARQL Update: deletions, then insertions, in portions that the endpoint accepts.

DELETE DATA { … GRAPH <g> { … } } ; INSERT DATA { … GRAPH <g> { … } }
"""

from collections.abc import Iterable, Iterator, Mapping

from tidings.endpoint.blanks import outgoing
from tidings.endpoint.dialects import Dialect
from tidings.model.terms import Quad, Term

_NEXT = " ;\n"
_ROOM = 200
"""Bytes reserved for the text around the data of a portion."""


def updates(states: Mapping[Quad, bool], dialect: Dialect) -> Iterator[str]:
    """The texts of the updates that bring about these states, in order."""
    held: list[str] = []
    size = quads = 0
    for verb, there in (("DELETE DATA", False), ("INSERT DATA", True)):
        for block, count in _blocks((quad for quad, state in states.items() if state is there), dialect):
            text = f"{verb} {{{block}}}"
            length = len(text.encode()) + len(_NEXT)
            if held and (size + length > dialect.request_bytes or quads + count > dialect.request_quads):
                yield _NEXT.join(held)
                held, size, quads = [], 0, 0
            held.append(text)
            size += length
            quads += count
    if held:
        yield _NEXT.join(held)


def _blocks(quads: Iterable[Quad], dialect: Dialect) -> Iterator[tuple[str, int]]:
    """The data between the braces in portions, each with its number of quads."""
    graphs: dict[Term, list[str]] = {}
    size, most, count = 0, dialect.request_bytes - _ROOM, 0
    for s, p, o, g in quads:
        subject = s if s[0] != "_" else outgoing(s, dialect.address)
        object_ = o if o[0] != "_" else outgoing(o, dialect.address)
        line = f"{subject} {p} {object_} ."
        length = (len(line) if line.isascii() else len(line.encode())) + 1
        name = g or dialect.default_graph
        length += len(name) + 12 if name not in graphs else 0
        if count and (size + length > most or count == dialect.request_quads):
            yield from _operations(graphs, dialect)
            graphs, size, count = {}, 0, 0
        graphs.setdefault(name, []).append(line)
        size += length
        count += 1
    if graphs:
        yield from _operations(graphs, dialect)


def _operations(graphs: Mapping[Term, list[str]], dialect: Dialect) -> Iterator[tuple[str, int]]:
    """The data of one operation for all of these graphs, or of one for each, as the dialect needs it."""
    if dialect.one_graph:
        yield from ((_block({name: lines}), len(lines)) for name, lines in graphs.items())
    else:
        yield _block(graphs), sum(map(len, graphs.values()))


def _block(graphs: Mapping[Term, list[str]]) -> str:
    return "\n".join(
        f"GRAPH {name} {{\n{data}\n}}" if name else data
        for name, data in ((name, "\n".join(lines)) for name, lines in graphs.items())
    )
