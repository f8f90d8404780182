"""Names of formats, and which of them a client wants: one mechanism for RDF documents and for results.

Negotiation follows RFC 9110, section 12.5.1: of the ranges that match a media type the most specific one decides its
quality; the format of the highest quality wins, and the order of the offer breaks ties.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from tidings.model.errors import NotAcceptable, UnsupportedFormat

_QUALITY = re.compile(r"0(?:\.[0-9]*)?|1(?:\.0*)?")


@dataclass(frozen=True, slots=True)
class Media:
    """The names of a format; Tidings sends the first of its media types."""

    name: str
    types: tuple[str, ...]
    endings: tuple[str, ...]
    aliases: tuple[str, ...] = ()


class Named(Protocol):
    """A member of a closed enumeration of formats."""

    @property
    def media(self) -> Media: ...


F = TypeVar("F", bound=Named)


def by_media_type(formats: Iterable[F], content_type: str) -> F:
    """The format of a Content-Type header, whatever its parameters."""
    wanted = content_type.partition(";")[0].strip().lower()
    for format_ in formats:
        if wanted in format_.media.types:
            return format_
    raise UnsupportedFormat(f"the media type {wanted!r} is not supported here")


def by_file_name(formats: Iterable[F], file_name: str) -> F:
    """The format of a file's ending, also below `.gz`."""
    formats = tuple(formats)
    stem = file_name.lower().removesuffix(".gz")
    ending = stem.rpartition(".")[2] if "." in stem else ""
    for format_ in formats:
        if ending in format_.media.endings:
            return format_
    endings = ", ".join(f".{format_.media.endings[0]}" for format_ in formats)
    raise UnsupportedFormat(f"the name {file_name!r} tells no format; those that do end in {endings}")


def by_name(formats: Iterable[F], name: str) -> F:
    """The format of a short name: its own, one of its file endings, or an alias."""
    wanted = name.strip().lower()
    for format_ in formats:
        media = format_.media
        if wanted == media.name or wanted in media.endings or wanted in media.aliases:
            return format_
    raise UnsupportedFormat(f"no format is called {name!r} here")


def negotiate(accept: str | None, offered: Sequence[F]) -> F:
    """The offered format that an Accept header likes best; without a header, the first one offered."""
    if accept is None or not accept.strip():
        return offered[0]
    ranges = _ranges(accept)
    best = max(offered, key=lambda format_: _quality_of(format_.media, ranges))  # max keeps the first of equals
    if not _quality_of(best.media, ranges):
        names = ", ".join(format_.media.types[0] for format_ in offered)
        raise NotAcceptable(f"Accept: {accept} allows none of {names}")
    return best


def _ranges(accept: str) -> dict[str, float]:
    """Media ranges and their qualities; parameters other than q do not matter to our formats."""
    ranges: dict[str, float] = {}
    for part in accept.split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        if name:
            ranges["*/*" if name == "*" else name] = _quality(parameters)
    return ranges


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        key, _, value = parameter.partition("=")
        if key.strip() == "q":
            return float(value) if _QUALITY.fullmatch(value.strip()) else 1.0
    return 1.0


def _quality_of(media: Media, ranges: dict[str, float]) -> float:
    """The quality of a format. Wildcards match only the media type that Tidings sends, not the others."""
    named = [ranges[type_] for type_ in media.types if type_ in ranges]
    if named:
        return max(named)
    group = media.types[0].partition("/")[0]
    return ranges.get(f"{group}/*", ranges.get("*/*", 0.0))
