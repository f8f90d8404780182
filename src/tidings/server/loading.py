"""LOAD, as far as the settings allow it: of files below one folder, of documents from listed hosts, both, or none."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

from tidings.engine.updates.operations import Loader
from tidings.model.errors import LoadFailed, NotAllowed, RdfSyntaxError, UnsupportedFormat
from tidings.model.formats.media import by_file_name, by_media_type
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.terms import Triple
from tidings.server.config import Settings
from tidings.server.files import FolderLoader
from tidings.server.outgoing import Document, Outgoing, Reach

_FORMATS = tuple(RdfFormat)
_ACCEPT = ", ".join(type_ for format_ in _FORMATS for type_ in format_.media.types[:1])


class WebLoader:
    """LOAD, for http and https addresses."""

    def __init__(self, outgoing: Outgoing) -> None:
        self._outgoing = outgoing

    def __call__(self, source: str) -> Iterator[Triple]:
        document = self._outgoing.fetch(source, _ACCEPT)
        try:
            for s, p, o, _ in parse_rdf(document.body, _format(document), base=document.url):
                yield s, p, o
        except RdfSyntaxError as error:
            raise LoadFailed(f"{document.url}: {error}") from error


class AnyLoader:
    """LOAD for files and for the web, chosen by the scheme of the address."""

    def __init__(self, base: str, files: FolderLoader | None, web: WebLoader | None) -> None:
        self._base = base
        self._files = files
        self._web = web

    def __call__(self, source: str) -> Iterable[Triple]:
        if urlsplit(source).scheme in {"http", "https"} and not (self._files and source.startswith(self._base)):
            if self._web is None:
                raise NotAllowed(f"LOAD reads files only, not <{source}>; outgoing_hosts lists hosts that it may ask")
            return self._web(source)
        if self._files is None:
            raise NotAllowed(f"LOAD reads no files, such as <{source}>, without the setting load_from")
        return self._files(source)


def loader_of(settings: Settings) -> Loader | None:
    """The loader for LOAD; None if LOAD is switched off."""
    files = None if settings.load_from is None else FolderLoader(Path(settings.load_from), settings.base)
    web = WebLoader(Outgoing(reach(settings))) if settings.outgoing_hosts else None
    return AnyLoader(settings.base, files, web) if files or web else None


def reach(settings: Settings) -> Reach:
    """The hosts and networks that requests on behalf of clients may reach."""
    return Reach(settings.outgoing_hosts, settings.outgoing_networks, settings.outgoing_size, settings.outgoing_timeout)


def _format(document: Document) -> RdfFormat:
    """The format by the Content-Type; if that is missing or not of RDF, by the file name."""
    try:
        return by_media_type(_FORMATS, document.media_type)
    except UnsupportedFormat:
        if document.media_type not in {"", "text/plain", "application/octet-stream"}:
            raise
        return by_file_name(_FORMATS, urlsplit(document.url).path)
