"""Queries and updates of the command line at a broker, over HTTP."""

import re
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from tidings.cli.input.identity import calling
from tidings.model.formats.blanks import KEEP_LABELS
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.formats.results.documents import ResultFormat, read_results
from tidings.model.results import Boolean, Solutions
from tidings.model.terms import Quad


def answer_bytes(text: str, media_type: str, arguments: Namespace) -> Iterator[bytes]:
    """The bytes of the broker's answer to a query, while they come."""
    form = {
        "query": based(text, arguments),
        "default-graph-uri": arguments.default_graph,
        "named-graph-uri": arguments.named_graph,
        "at": [] if arguments.at is None else [str(arguments.at)],
    }
    with (
        calling(arguments, seconds=arguments.timeout) as calls,
        calls.streamed("/query", "POST", form=form, accept=media_type) as chunks,
    ):
        yield from chunks


def table_of(text: str, arguments: Namespace) -> Solutions | Boolean:
    """The answer to SELECT or ASK."""
    json = ResultFormat.JSON
    return read_results(b"".join(answer_bytes(text, json.media.types[0], arguments)), json)


_ONLY_NAMED = "ASK { FILTER NOT EXISTS { ?s ?p ?o } FILTER EXISTS { GRAPH ?g { ?s ?p ?o } } }"


def all_is_named(text: str, arguments: Namespace) -> bool:
    """Whether a query found nothing because it asks the default graph, and all data are in named graphs."""
    if re.search(r"\b(GRAPH|FROM)\b", text, re.IGNORECASE) or arguments.default_graph or arguments.named_graph:
        return False
    return table_of(_ONLY_NAMED, arguments) == Boolean(True)


def answer_triples(text: str, arguments: Namespace) -> Iterator[Quad]:
    """The answer to CONSTRUCT or DESCRIBE."""
    format_ = RdfFormat.N_TRIPLES
    return parse_rdf(answer_bytes(text, format_.media.types[0], arguments), format_, blanks=KEEP_LABELS)


def send_update(text: str, arguments: Namespace) -> dict[str, Any]:
    """Send an update, to be executed now or later; the broker's answer."""
    form = {"update": based(text, arguments)}
    form |= {name: value for name in ("at", "delay") if (value := getattr(arguments, name)) is not None}
    with calling(arguments, seconds=arguments.timeout) as calls:
        response = calls.json("/update", "POST", form=form, publisher=arguments.publisher)["response"]
    assert isinstance(response, dict)
    return response


def based(text: str, arguments: Namespace) -> str:
    """The text with the base IRI of the options; without that option, the base IRI of the broker applies."""
    return text if arguments.base is None else f"BASE <{arguments.base}>\n{text}"
