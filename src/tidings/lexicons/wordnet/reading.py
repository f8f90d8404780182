"""The synsets of WordNet's database files (wndb(5WN)).

offset  file  type  words  word id …  pointers  symbol offset part source/target …  | gloss
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tidings.lexicons.errors import WordNetDamaged
from tidings.lexicons.wordnet.finding import PARTS

_PART = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
_MARKER = re.compile(r"\((?:a|p|ip)\)$")


class Pointer(NamedTuple):
    """A relation: `@` hypernym, `~` hyponym, `!` antonym and others, of a whole synset or of two of its words."""

    symbol: str
    target: str
    source_word: int
    """Counted from 1; 0 if the relation is one of the synsets."""
    target_word: int


@dataclass(frozen=True, slots=True)
class Synset:
    """Words that mean the same, with an explanation. Its id is as `n00001740`: part of speech and place."""

    id: str
    words: tuple[str, ...]
    pointers: tuple[Pointer, ...]
    gloss: str


def synsets(folder: Path) -> Iterator[Synset]:
    """All of them, part by part. Raises WordNetDamaged."""
    for part in PARTS:
        path = folder / f"data.{part}"
        try:
            with path.open(encoding="utf-8", errors="replace") as file:
                for number, line in enumerate(file, start=1):
                    if not line.startswith(" "):  # the licence
                        yield read_synset(line, _PART[part], path, number)
        except OSError as error:
            raise WordNetDamaged(f"{path} cannot be read: {error.strerror}") from error


def read_synset(line: str, part: str, path: Path, number: int) -> Synset:
    """One line of a data file. Raises WordNetDamaged."""
    facts, _, gloss = line.partition("| ")
    fields = facts.split()
    try:
        words = tuple(_word(each) for each in fields[4 : 4 + 2 * int(fields[3], 16) : 2])
        at = 4 + 2 * int(fields[3], 16)
        starts = range(at + 1, at + 1 + 4 * int(fields[at]), 4)
        pointers = tuple(_pointer(*fields[start : start + 4]) for start in starts)
        place = int(fields[0])
    except (IndexError, ValueError, TypeError) as error:
        raise WordNetDamaged(f"{path}, line {number}: no synset of WordNet ({error})") from error
    return Synset(f"{part}{place:08}", words, pointers, gloss.strip())


def _word(field: str) -> str:
    return _MARKER.sub("", field).replace("_", " ")


def _pointer(symbol: str, offset: str, part: str, words: str) -> Pointer:
    return Pointer(symbol, f"{part}{offset}", int(words[:2], 16), int(words[2:], 16))
