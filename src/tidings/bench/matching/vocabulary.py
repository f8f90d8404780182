"""Vocabularies: terms with their synonyms and related terms, and the attributes and values of events.

A phrase is a tuple of terms, so that each can be replaced by another: `parking space+occupied+event`.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TypeAlias

Phrase: TypeAlias = tuple[str, ...]
Slot: TypeAlias = tuple[str, tuple[Phrase, ...]]
"""An attribute, and the values that it may have."""


@dataclass(frozen=True, slots=True)
class Thesaurus:
    """The replacements of a term: its synonyms and its related terms."""

    synonyms: tuple[str, ...] = ()
    related: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    name: str
    terms: dict[str, Thesaurus]
    places: tuple[tuple[Slot, ...], ...]
    events: tuple[tuple[Slot, ...], ...]


VOCABULARIES = ("city", "farm", "office", "airport", "hotel", "theatre", "brewery")
CALIBRATION = ("clinic", "harbour")
"""The vocabularies on which parameters are chosen. Reports do not include these, nor `library` and `school`, whose
errors were inspected."""


_FOLDER = files("tidings.bench.matching.vocabularies")


def known_vocabularies() -> list[str]:
    """The names of all vocabularies."""
    return sorted(each.name.removesuffix(".txt") for each in _FOLDER.iterdir() if each.name.endswith(".txt"))


@cache
def vocabulary(name: str) -> Vocabulary:
    return read_vocabulary(name, _FOLDER.joinpath(f"{name}.txt").read_text(encoding="utf-8"))


def read_vocabulary(name: str, text: str) -> Vocabulary:
    sections: dict[str, list[str]] = {"terms": [], "places": [], "events": []}
    section: list[str] = []
    for line in (line.strip() for line in text.splitlines()):
        if line.startswith("["):
            section = sections[line[1:-1]]
        elif line and not line.startswith("#"):
            section.append(line)
    return Vocabulary(
        name,
        dict(_term(line) for line in sections["terms"]),
        tuple(_slots(line) for line in sections["places"]),
        tuple(_slots(line) for line in sections["events"]),
    )


def _term(line: str) -> tuple[str, Thesaurus]:
    term, _, others = line.partition(":")
    synonyms, _, related = others.partition("|")
    return term.strip(), Thesaurus(_list(synonyms, ","), _list(related, ","))


def _slots(line: str) -> tuple[Slot, ...]:
    slots = []
    for each in _list(line, ";"):
        attribute, _, values = each.partition("=")
        slots.append((attribute.strip(), tuple(_list(value, "+") for value in _list(values, "/"))))
    return tuple(slots)


def _list(text: str, separator: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(separator) if part.strip())
