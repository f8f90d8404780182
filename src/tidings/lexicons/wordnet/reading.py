"""The synsets of WordNet's database files (wndb(5WN)).

offset  file  type  words  word id …  pointers  symbol offset part source/target …  | gloss
"""

import re
from collections.abc import Iterator
from operator import add
from pathlib import Path

from msgspec import Struct

from tidings.lexicons.errors import WordNetDamaged
from tidings.lexicons.wordnet.finding import PARTS

_PART = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
_USUAL = frozenset(["0000", "0101"])
"""The words of most relations: none (a relation of whole synsets), or the first word of each synset."""
_MARKER = re.compile(r"\((?:a|p|ip)\)$")


class Pointer(Struct, frozen=True, gc=False):
    """A relation: `@` hypernym, `~` hyponym, `!` antonym and others, of a whole synset or of two of its words."""

    symbol: str
    target: str
    source_word: int
    """Counted from 1; 0 for a relation of whole synsets."""
    target_word: int


class Synset(Struct, frozen=True, gc=False):
    """Words with the same meaning, with a gloss. Its id is written as `n00001740`: part of speech and offset."""

    id: str
    words: tuple[str, ...]
    symbols: tuple[str, ...]
    """The symbols of its relations. Most callers need only these and the targets, so `pointers` are built on demand."""
    targets: tuple[str, ...]
    ends: tuple[str, ...]
    """The word numbers of its relations, as in the file."""
    gloss: str

    @property
    def pointers(self) -> Iterator[Pointer]:
        for symbol, target, end in zip(self.symbols, self.targets, self.ends, strict=True):
            yield Pointer(symbol, target, *_places(end))


def synsets(folder: Path) -> Iterator[Synset]:
    """All synsets, one part of speech after the other. Raises WordNetDamaged."""
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
        at = 4 + 2 * int(fields[3], 16)
        words = tuple([_word(each) for each in fields[4:at:2]])
        after = at + 1 + 4 * int(fields[at])
        symbols, ends = tuple(fields[at + 1 : after : 4]), tuple(fields[at + 4 : after : 4])
        targets = tuple(map(add, fields[at + 3 : after : 4], fields[at + 2 : after : 4]))
        place = int(fields[0])
        _ = fields[after - 1], [*map(_places, {*ends} - _USUAL)]  # raises if fields are missing or are no numbers
    except (IndexError, ValueError, TypeError) as error:
        raise WordNetDamaged(f"{path}, line {number}: no synset of WordNet ({error})") from error
    return Synset(f"{part}{place:08}", words, symbols, targets, ends, gloss.strip())


def _word(field: str) -> str:
    return (_MARKER.sub("", field) if "(" in field else field).replace("_", " ")


def _places(end: str) -> tuple[int, int]:
    return int(end[:2], 16), int(end[2:], 16)
