"""Chooses the format of results, and writes them."""

from collections.abc import Iterable, Sequence
from contextlib import suppress

from tidings.broker.queries import Writer
from tidings.engine.plans.spu import answer_rows
from tidings.model.errors import NotAcceptable, UnsupportedFormat
from tidings.model.formats.media import F, Media, by_media_type, by_name, negotiate
from tidings.model.formats.rdf import RdfFormat, serialize_rdf
from tidings.model.formats.results.documents import ResultFormat, write_results
from tidings.model.results import Boolean, Result, Solutions, Triples

TRIPLE = ("subject", "predicate", "object")


def document(accept: str | None, wanted: Sequence[str]) -> Writer:
    """A writer for the first of the wanted formats that exists; if none is wanted, for the Accept header."""

    def write(result: Result) -> tuple[str, Iterable[bytes]]:
        match result:
            case Solutions() | Boolean():
                results = first_of(tuple(ResultFormat), accept, wanted)
                return content_type(results.media), write_results(result, results)
            case Triples(triples):
                try:
                    rdf = first_of(tuple(RdfFormat), accept, wanted)
                except NotAcceptable:  # a client that accepts only tables gets triples as rows
                    results = first_of(tuple(ResultFormat), accept, wanted)
                    return content_type(results.media), write_results(Solutions(TRIPLE, triples), results)
                return content_type(rdf.media), serialize_rdf(triples, rdf)

    return write


def results_document(result: Result) -> tuple[str, Iterable[bytes]]:
    """Any result as SPARQL results in JSON; triples become rows of three columns."""
    if isinstance(result, Triples):
        result = Solutions(TRIPLE, answer_rows(result))
    return content_type(ResultFormat.JSON.media), write_results(result, ResultFormat.JSON)


def rdf_document(format_: RdfFormat) -> Writer:
    """A writer of triples in this format."""

    def write(result: Result) -> tuple[str, Iterable[bytes]]:
        assert isinstance(result, Triples)
        return content_type(format_.media), serialize_rdf(result.triples, format_)

    return write


def first_of(formats: Sequence[F], accept: str | None, wanted: Sequence[str]) -> F:
    """The first of the wanted formats that exists; if none is wanted, by the Accept header. If none exists, raises the
    error for the first."""
    for name in wanted:
        with suppress(UnsupportedFormat, NotAcceptable):
            return negotiate(name, formats) if "," in name else chosen(formats, accept, name)
    return chosen(formats, accept, wanted[0] if wanted else None)


def chosen(formats: Sequence[F], accept: str | None, wanted: str | None) -> F:
    """The format that the parameter `format` names, by name or media type; without one, by the Accept header."""
    if not wanted:
        return negotiate(accept, formats)
    return by_media_type(formats, wanted) if "/" in wanted else by_name(formats, wanted)


def content_type(media: Media) -> str:
    name = media.types[0]
    return f"{name}; charset=utf-8" if name.startswith("text/") else name
