"""Results of SELECT and ASK in and out: SPARQL 1.1 Query Results JSON, XML, CSV and TSV.

    read_results(write_results(solutions, format), format)  =  solutions

for JSON and TSV always, for XML where XML has the characters; CSV keeps lexical forms only.
"""

from collections.abc import Iterator
from enum import Enum
from typing import assert_never

from tidings.model.formats.media import Media
from tidings.model.formats.results import csv, json, tsv, xml
from tidings.model.results import Boolean, Solutions


class ResultFormat(Enum):
    """The syntaxes of results that are read and written here."""

    JSON = Media("json", ("application/sparql-results+json", "application/json"), ("srj", "json"))
    XML = Media("xml", ("application/sparql-results+xml", "application/xml", "text/xml"), ("srx", "xml"))
    CSV = Media("csv", ("text/csv",), ("csv",))
    TSV = Media("tsv", ("text/tab-separated-values", "text/tsv"), ("tsv",))

    @property
    def media(self) -> Media:
        return self.value


def write_results(result: Solutions | Boolean, format: ResultFormat) -> Iterator[bytes]:  # noqa: A002
    """A document in chunks of some hundred rows, written as the rows come."""
    match format:
        case ResultFormat.JSON:
            return json.write_json(result)
        case ResultFormat.XML:
            return xml.write_xml(result)
        case ResultFormat.CSV:
            return csv.write_csv(result)
        case ResultFormat.TSV:
            return tsv.write_tsv(result)
        case _:
            assert_never(format)


def read_results(document: bytes, format: ResultFormat) -> Solutions | Boolean:  # noqa: A002
    """The result that a document holds, its rows in a tuple. Raises ResultsSyntaxError."""
    match format:
        case ResultFormat.JSON:
            return json.read_json(document)
        case ResultFormat.XML:
            return xml.read_xml(document)
        case ResultFormat.CSV:
            return csv.read_csv(document)
        case ResultFormat.TSV:
            return tsv.read_tsv(document)
        case _:
            assert_never(format)
