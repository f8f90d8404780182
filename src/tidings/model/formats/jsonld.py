"""Writes JSON-LD in expanded form, without a context, so that the document does not depend on others.

A node object has consecutive statements of one subject, a graph object those of one named graph.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import orjson

from tidings.model import terms
from tidings.model.terms import Quad, Term


def write_json_ld(quads: Iterable[Quad]) -> Iterator[str]:
    separator = "["
    for graph, statements in groupby(quads, key=itemgetter(3)):
        if graph:
            yield f'{separator}{{"@id":{_text(_name(graph))},"@graph":['
            separator = ""
        for subject, group in groupby(statements, key=itemgetter(0)):
            yield separator + _text(_node(subject, group))
            separator = ",\n"
        if graph:
            yield "]}"
    yield "[]\n" if separator == "[" else "]\n"


def _node(subject: Term, statements: Iterable[Quad]) -> dict[str, Any]:
    node: dict[str, Any] = {"@id": _name(subject)}
    for _, predicate, object_, _ in statements:
        if predicate == terms.RDF_TYPE and terms.is_iri(object_):
            node.setdefault("@type", []).append(_name(object_))
        else:
            node.setdefault(terms.iri_text(predicate), []).append(_value(object_))
    return node


def _name(term: Term) -> str:
    return terms.iri_text(term) if terms.is_iri(term) else term


def _value(term: Term) -> dict[str, str]:
    if not terms.is_literal(term):
        return {"@id": _name(term)}
    lexical, datatype, language = terms.split_literal(term)
    if language:
        return {"@value": lexical, "@language": language}
    if datatype == terms.XSD_STRING:
        return {"@value": lexical}
    return {"@value": lexical, "@type": datatype}


def _text(value: Any) -> str:
    return orjson.dumps(value).decode()
