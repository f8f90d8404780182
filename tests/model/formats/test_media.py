"""Formats are found by media type, file name and short name, and negotiated as RFC 9110 says."""

import pytest

from tidings.model.errors import NotAcceptable, UnsupportedFormat
from tidings.model.formats.media import by_file_name, by_media_type, by_name, negotiate
from tidings.model.formats.rdf import RdfFormat
from tidings.model.formats.results.documents import ResultFormat

RDF = tuple(RdfFormat)
RESULTS = tuple(ResultFormat)


def test_parameters_and_case_of_a_media_type_do_not_matter() -> None:
    assert by_media_type(RdfFormat, "Text/Turtle; charset=UTF-8") is RdfFormat.TURTLE


@pytest.mark.parametrize(
    ("file_name", "format_"),
    [
        ("a.ttl", RdfFormat.TURTLE),
        ("dump.nq.gz", RdfFormat.N_QUADS),
        ("http://example.org/x/Onto.OWL", RdfFormat.RDF_XML),
        ("a.b.jsonld", RdfFormat.JSON_LD),
    ],
)
def test_a_file_is_known_by_its_ending(file_name: str, format_: RdfFormat) -> None:
    assert by_file_name(RdfFormat, file_name) is format_


@pytest.mark.parametrize("name", ["ttl", "turtle", " Turtle"])
def test_a_format_has_short_names(name: str) -> None:
    assert by_name(RdfFormat, name) is RdfFormat.TURTLE


def test_what_nobody_reads_is_unsupported() -> None:
    with pytest.raises(UnsupportedFormat):
        by_media_type(RdfFormat, "image/png")
    with pytest.raises(UnsupportedFormat):
        by_file_name(RdfFormat, "ttl")
    with pytest.raises(UnsupportedFormat):
        by_name(ResultFormat, "n3")


@pytest.mark.parametrize("formats", [RDF, RESULTS])
def test_no_two_formats_share_a_name(formats: tuple[RdfFormat, ...] | tuple[ResultFormat, ...]) -> None:
    for names in ("types", "endings"):
        used = [name for format_ in formats for name in getattr(format_.media, names)]
        assert len(used) == len(set(used))


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        (None, ResultFormat.JSON),
        ("", ResultFormat.JSON),
        ("*/*", ResultFormat.JSON),
        ("*", ResultFormat.JSON),
        ("text/*", ResultFormat.CSV),
        ("text/csv;q=0.4, application/sparql-results+xml;q=0.5", ResultFormat.XML),
        ("text/csv; q=0.5, text/tab-separated-values", ResultFormat.TSV),
        ("application/json", ResultFormat.JSON),
        ("application/xml, */*;q=0.1", ResultFormat.XML),
        ("application/sparql-results+json;q=0, */*;q=0.1", ResultFormat.XML),
        ("text/html, application/xhtml+xml, TEXT/CSV", ResultFormat.CSV),
        ("text/csv;q=none", ResultFormat.CSV),
        (" , text/csv;charset=utf-8;q=0.2", ResultFormat.CSV),
    ],
)
def test_the_best_quality_wins_and_our_order_breaks_ties(accept: str | None, chosen: ResultFormat) -> None:
    assert negotiate(accept, RESULTS) is chosen


def test_a_wildcard_speaks_of_the_type_we_send() -> None:
    assert negotiate("text/*", (RdfFormat.N_TRIPLES, RdfFormat.TURTLE)) is RdfFormat.TURTLE


@pytest.mark.parametrize("accept", ["image/png", "text/csv;q=0", "*/*;q=0.0", "audio/*"])
def test_nothing_that_is_accepted_is_not_acceptable(accept: str | None) -> None:
    with pytest.raises(NotAcceptable, match="sparql-results"):
        negotiate(accept, RESULTS)


def test_formats_say_whether_they_carry_graphs() -> None:
    assert [format_ for format_ in RDF if format_.has_graphs] == [RdfFormat.TRIG, RdfFormat.N_QUADS, RdfFormat.JSON_LD]
