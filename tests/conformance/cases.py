"""The W3C cases: where they are, and how results are compared."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tidings.sparql.values import Number, decode

Row = tuple[str | None, ...]

_DEFAULT = Path(__file__).parents[2].parent / "shared" / "conformance" / "w3c-given.jsonl"
PATH = Path(os.environ.get("TIDINGS_W3C", _DEFAULT))


def cases(kind: str) -> list[dict[str, Any]]:
    """All cases of a kind; none where the file is not there."""
    if not PATH.exists():
        return []
    with PATH.open(encoding="utf-8") as lines:
        return [case for line in lines if (case := json.loads(line))["kind"] == kind]


def canonical(term: str | None) -> str | None:
    """Numbers by their value and language tags without case: SPARQL results are compared by what they mean."""
    if not term or term[0] != '"':
        return term
    if term[-1] == ">":
        value = decode(term)
        if isinstance(value, Number):
            return f"{value.rank}:{float(value.value)!r}"
        return term
    head, at, tag = term.rpartition('"@')
    return f'{head}"@{tag.lower()}' if at else term


def same_rows(found: Iterable[Row], expected: Iterable[Row]) -> bool:
    """Whether two multisets of rows are equal, up to the names of blank nodes."""
    ours = [tuple(canonical(term) for term in row) for row in found]
    theirs = [tuple(canonical(term) for term in row) for row in expected]
    if len(ours) != len(theirs):
        return False
    return any(True for _ in _isomorphisms(ours, theirs, {}))


def _shape(row: Row) -> Row:
    return tuple("_" if term and term[0] == "_" else term for term in row)


def _isomorphisms(ours: Sequence[Row], theirs: Sequence[Row], names: dict[str, str]) -> Iterator[dict[str, str]]:
    """Match row by row, the rows with the rarest shape first, each blank node to one and only one other."""
    if not ours:
        yield names
        return
    if Counter(map(_shape, ours)) != Counter(map(_shape, theirs)):
        return
    row = ours[0]
    for number, other in enumerate(theirs):
        extended = _unified(row, other, names)
        if extended is not None:
            rest = [*theirs[:number], *theirs[number + 1 :]]
            yield from _isomorphisms(ours[1:], rest, extended)


def _unified(row: Row, other: Row, names: dict[str, str]) -> dict[str, str] | None:
    result = dict(names)
    for mine, theirs in zip(row, other, strict=True):
        if not mine or not theirs or mine[0] != "_" or theirs[0] != "_":
            if mine != theirs:
                return None
        elif result.setdefault(mine, theirs) != theirs or list(result.values()).count(theirs) > 1:
            return None
    return result
