"""Writes Turtle and TriG, with prefixes; consecutive statements share their subject and predicate.

Terms are Turtle already, so the writer writes each statement as it comes, and buffers nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from tidings.model import terms
from tidings.model.errors import BadRequest
from tidings.model.formats.grammar import IRI_REFERENCE, bare_number
from tidings.model.terms import Quad, Term

_PREFIX = re.compile(r"(?:[A-Za-z](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?)?")
_LOCAL = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_-]*)?")
_REMEMBERED = 100_000


class _Names(dict[Term, str]):
    """Term -> its shortest spelling under the prefixes."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        super().__init__()
        by_length = sorted(prefixes.items(), key=lambda item: -len(item[1]))
        self._namespaces = [(f"<{namespace}", f"{prefix}:") for prefix, namespace in by_length]

    def __missing__(self, term: Term) -> str:
        if len(self) > _REMEMBERED:
            self.clear()
        name = self[term] = self._spelt(term)
        return name

    def _spelt(self, term: Term) -> str:
        if term[0] == "<":
            return self._shortened(term)
        if term[0] == '"' and term[-1] == ">":
            end = term.rindex('"^^<') + 3
            return bare_number(term) or term[:end] + self._shortened(term[end:])
        return term

    def _shortened(self, iri: Term) -> str:
        for start, prefix in self._namespaces:
            if iri.startswith(start) and _LOCAL.fullmatch(local := iri[len(start) : -1]):
                return prefix + local
        return iri


def write_turtle(quads: Iterable[Quad], prefixes: Mapping[str, str]) -> Iterator[str]:
    """Turtle, which becomes TriG with the first statement in a named graph."""
    for prefix, namespace in prefixes.items():
        yield _declaration(prefix, namespace)
    names = _Names(prefixes)
    graph = subject = predicate = ""
    for s, p, o, g in quads:
        if g != graph:
            yield (" .\n" if subject else "") + ("}\n" if graph else "") + (f"{names[g]} {{\n" if g else "")
            graph, subject = g, ""
        if s != subject:
            yield (" .\n" if subject else "") + f"{names[s]} {_verb(p, names)} {names[o]}"
        elif p != predicate:
            yield f" ;\n    {_verb(p, names)} {names[o]}"
        else:
            yield f" , {names[o]}"
        subject, predicate = s, p
    yield (" .\n" if subject else "") + ("}\n" if graph else "")


def _verb(predicate: Term, names: _Names) -> str:
    return "a" if predicate == terms.RDF_TYPE else names[predicate]


def _declaration(prefix: str, namespace: str) -> str:
    if not _PREFIX.fullmatch(prefix) or not IRI_REFERENCE.fullmatch(namespace):
        raise BadRequest(f"not a prefix that Turtle can declare: {prefix}: <{namespace}>")
    return f"@prefix {prefix}: <{namespace}> .\n"
