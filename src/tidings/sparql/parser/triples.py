"""Triples blocks: subjects with predicate-object lists, collections and `[...]`, in patterns, templates and data."""

from tidings.model.terms import RDF_FIRST, RDF_NIL, RDF_REST, RDF_TYPE
from tidings.sparql.algebra import Node, TriplePattern
from tidings.sparql.parser.cursor import Cursor
from tidings.sparql.parser.paths import at_path_operator, path, pattern_of

_NO_TRIPLE = frozenset({"", "{", "}", ".", ";", ",", ")", "+", "-", "?", "$"})
_STARTS = frozenset("?$\"'<([_:.+-0123456789")


def triples_block(c: Cursor, triples: list[TriplePattern], paths: list[Node] | None) -> None:
    """Read triples separated by dots, up to the first token that cannot start one.

    Simple triples go to `triples`, patterns of property paths to `paths`, which is None where paths are not allowed.
    """
    toks = c.toks
    while True:
        _same_subject(c, triples, paths)
        if toks[c.i] != ".":
            return
        c.i += 1
        if not at_triple(c):
            return


def at_triple(c: Cursor) -> bool:
    """Whether the current token can start a triple."""
    token = c.toks[c.i]
    if token in _NO_TRIPLE:
        return False
    return token[0] in _STARTS or ":" in token or token.upper() in {"TRUE", "FALSE"}


def _same_subject(c: Cursor, triples: list[TriplePattern], paths: list[Node] | None) -> None:
    opening = c.toks[c.i]
    if opening in {"[", "("}:
        subject = _node(c, triples, paths)
        # Only a `[...]` with properties, or a collection, may stand without a property list.
        if not _at_verb(c) and c.toks[c.i - 2] != "[" and subject != RDF_NIL:
            return
    else:
        subject = c.term()
    _property_list(c, subject, triples, paths)


def _property_list(c: Cursor, subject: str, triples: list[TriplePattern], paths: list[Node] | None) -> None:
    toks = c.toks
    while True:
        _objects(c, subject, triples, paths)
        if toks[c.i] != ";":
            return
        while toks[c.i] == ";":
            c.i += 1
        if not _at_verb(c):
            return


def _at_verb(c: Cursor) -> bool:
    token = c.toks[c.i]
    return token[:1] in {"?", "$", "<", "^", "!", "("} or ":" in token or token == "a"


def _objects(c: Cursor, subject: str, triples: list[TriplePattern], paths: list[Node] | None) -> None:
    """One verb and the objects after it."""
    toks = c.toks
    token = toks[c.i]
    first = token[:1]
    if paths is not None and (first in {"^", "!", "("} or at_path_operator(toks[c.i + 1])):
        walked = path(c)
        paths.append(pattern_of(c, subject, walked, _node(c, triples, paths)))
        while c.accept(","):
            paths.append(pattern_of(c, subject, walked, _node(c, triples, paths)))
        return
    if first in {"?", "$"} and len(token) > 1:
        verb = "?" + token[1:]
        c.i += 1
    elif token == "a":
        verb = RDF_TYPE
        c.i += 1
    elif c.at_iri():
        verb = c.iri()
    else:
        c.fail("a predicate")
    while True:
        triples.append((subject, verb, _node(c, triples, paths)))
        if toks[c.i] != ",":
            return
        c.i += 1


def _node(c: Cursor, triples: list[TriplePattern], paths: list[Node] | None) -> str:
    """A term, a collection, or a blank node with its own property list."""
    token = c.toks[c.i]
    if token == "[":
        c.i += 1
        blank = c.anonymous_blank()
        if not c.accept("]"):
            _property_list(c, blank, triples, paths)
            c.expect("]")
        return blank
    if token == "(":
        return _collection(c, triples, paths)
    return c.term()


def _collection(c: Cursor, triples: list[TriplePattern], paths: list[Node] | None) -> str:
    c.expect("(")
    if c.accept(")"):
        return RDF_NIL
    head = cell = c.anonymous_blank()
    while True:
        triples.append((cell, RDF_FIRST, _node(c, triples, paths)))
        if c.accept(")"):
            triples.append((cell, RDF_REST, RDF_NIL))
            return head
        following = c.anonymous_blank()
        triples.append((cell, RDF_REST, following))
        cell = following
