"""Reads taxonomies from files: SKOS in any syntax of RDF, or concepts in JSON, optionally compressed with gzip."""

import gzip
import zlib
from pathlib import Path

import msgspec

from tidings.matching.taxonomy.built_in import built_in
from tidings.matching.taxonomy.errors import TaxonomyUnreadable
from tidings.matching.taxonomy.skos import of_document, of_quads
from tidings.matching.taxonomy.topics import Taxonomy
from tidings.model.errors import BadRequest
from tidings.model.formats.media import by_file_name
from tidings.model.formats.rdf import RdfFormat, parse_rdf

_LARGEST = 512 << 20
_LINKED = ("@context", "@graph", "@id")


def read_taxonomy(path: Path | None, language: str = "en") -> Taxonomy:
    """The taxonomy in a file, or the built-in one. Raises TaxonomyUnreadable."""
    if path is None:
        return built_in()
    name = path.name.removesuffix(".gz")
    text = _text(path)
    try:
        if name.endswith(".json"):
            document = msgspec.json.decode(text)
            if not (isinstance(document, dict) and any(key in document for key in _LINKED)):
                return of_document(path.name, document, language)
        syntax = by_file_name(RdfFormat, name)
        return of_quads(path.name, parse_rdf(text, syntax, base=path.absolute().as_uri()), language)
    except (BadRequest, msgspec.DecodeError) as error:
        if isinstance(error, TaxonomyUnreadable):
            raise
        raise TaxonomyUnreadable(f"{path} is no taxonomy: {error}") from error


def _text(path: Path) -> bytes:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            text = file.read(_LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise TaxonomyUnreadable(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(text) > _LARGEST:
        raise TaxonomyUnreadable(f"{path} has more than {_LARGEST:,} bytes")
    return text
