"""Looks up senses by a search in WordNet's sorted index files, as its own programs do.

The files are mapped into memory, not read, and bounded caches keep results. A sense is written as `n00001740`, its part
of speech and its offset in the data file.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from mmap import ACCESS_READ, mmap
from pathlib import Path

from tidings.lexicons.errors import WordNetDamaged
from tidings.lexicons.wordnet.finding import PARTS, wordnet_folder
from tidings.lexicons.wordnet.forms import base_forms, inflected
from tidings.lexicons.wordnet.reading import Synset, read_synset

_PART = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
_NEAR = frozenset(["@", "@i", "~", "~i", "&", "+", "\\", "=", "^", "*", ">"])
_PARTS = frozenset(["%p", "#p", "%m", "#m", "%s", "#s"])
_LETTERS = re.compile(r"[a-z]{3,}")
_SAY_NOTHING = frozenset(["and", "for", "its", "the"])
_KEPT = 32_768
_BETWEEN = 1_024
_LONGEST = 256
"""Bytes; no lemma is longer."""


class WordNet:
    """Implements the protocols of `matching` for a thesaurus and for opposites."""

    def __init__(self, folder: Path) -> None:
        self._index = {_PART[part]: _Index(folder / f"index.{part}") for part in PARTS}
        self._data = {_PART[part]: _mapped(folder / f"data.{part}") for part in PARTS}
        self._folder = folder
        self._synset = lru_cache(_KEPT)(self._read)
        self._of_lemma = lru_cache(_KEPT)(self._look_up)
        self.senses = lru_cache(_KEPT)(self._senses)
        self._explaining = lru_cache(_KEPT)(self._read_explanation)
        self._relations = lru_cache(_KEPT)(self._related)
        self.explained = lru_cache(_KEPT)(self._explained)
        self.has = lru_cache(_KEPT)(self._has)
        self.opposites = lru_cache(_KEPT)(self._opposites)

    def _has(self, term: str) -> bool:
        return any(self._lines(form, parts) for form, parts in base_forms(term))

    def _senses(self, item: str) -> frozenset[str]:
        return frozenset(sense for _, sense in self._meant(item))

    def _meant(self, item: str) -> Iterator[tuple[str, str]]:
        """The senses of an item, each with the form that has it."""
        for form, parts in base_forms(item):
            for sense in self._of_lemma(form, parts):
                yield form, sense

    def near(self, item: str) -> frozenset[str]:
        return self._relations(item)[0]

    def parts(self, item: str) -> frozenset[str]:
        return self._relations(item)[1]

    def _related(self, item: str) -> tuple[frozenset[str], frozenset[str]]:
        """The senses near to an item, and those that are its parts or of which it is a part."""
        near: list[str] = []
        parts: list[str] = []
        for sense in self.senses(item):
            synset = self._synset(sense)
            for symbol, target in zip(synset.symbols, synset.targets, strict=True):
                if symbol in _NEAR:
                    near.append(_plain(target))
                elif symbol in _PARTS:
                    parts.append(target)
        return frozenset(near), frozenset(parts)

    def _explained(self, item: str) -> tuple[tuple[str, ...], ...]:
        """For each sense of an item, its words and the words of its definition, without the examples."""
        return tuple([self._explaining(sense) for sense in sorted(self.senses(item))])

    def _read_explanation(self, sense: str) -> tuple[str, ...]:
        synset = self._synset(sense)
        definition = synset.gloss.partition(";")[0].partition('"')[0]
        found = _LETTERS.findall(f"{' '.join(synset.words)} {definition}".lower())
        return tuple([word for word in found if word not in _SAY_NOTHING])

    def _opposites(self, word: str) -> frozenset[str]:
        """Antonyms of a word, of its base forms, and of adjectives that are similar to it."""
        found: set[str] = set()
        for form, sense in self._meant(word):
            synset = self._synset(sense)
            for antonym in self._antonyms(synset, form):
                found.update(inflected(antonym) if sense[0] == "v" else [antonym])
            for symbol, target in zip(synset.symbols, synset.targets, strict=True) if sense[0] == "a" else ():
                if symbol == "&":
                    found.update(self._antonyms(self._synset(_plain(target)), None))
        return frozenset(found - {word})

    def _antonyms(self, synset: Synset, word: str | None) -> Iterator[str]:
        """The antonyms of one word of a synset, or of all its words, with the synonyms of these antonyms."""
        for pointer in synset.pointers if "!" in synset.symbols else ():
            if pointer.symbol == "!" and word in (None, synset.words[pointer.source_word - 1].lower()):
                yield from map(str.lower, self._synset(_plain(pointer.target)).words)

    def _look_up(self, lemma: str, parts: str) -> tuple[str, ...]:
        """The senses of a lemma, in these parts of speech."""
        senses: list[str] = []
        for part, line in self._lines(lemma, parts).items():
            fields = line.split()
            count = int(fields[2])
            senses += [f"{part}{int(offset):08}" for offset in fields[-count:]]
        return tuple(senses)

    def _lines(self, lemma: str, parts: str) -> dict[str, str]:
        """For each of these parts of speech, the line of the lemma in its index, if there is one. For a space in a
        term, the index has `_` or a hyphen, as in life-threatening."""
        for joint in ("_", "-") if " " in lemma else ("_",):
            key = lemma.replace(" ", joint).encode()
            found = {part: line for part in parts if (line := self._index[part].line(key))}
            if found:
                return found
        return {}

    def _read(self, sense: str) -> Synset:
        data, start = self._data[sense[0]], int(sense[1:])
        end = data.find(b"\n", start)
        if not 0 <= start < end:
            raise WordNetDamaged(f"{self._folder}: there is no synset {sense}")
        return read_synset(data[start:end].decode("utf-8", "replace"), sense[0], self._folder, start)


def load_wordnet(named: Path | None = None) -> WordNet:
    """Raises WordNetMissing, WordNetDamaged."""
    return WordNet(wordnet_folder(named))


def _mapped(path: Path) -> mmap:
    try:
        with path.open("rb") as file:
            return mmap(file.fileno(), 0, access=ACCESS_READ)
    except (OSError, ValueError) as error:
        raise WordNetDamaged(f"{path} cannot be read: {error}") from error


class _Index:
    """An index file, whose lines are sorted by their bytes. The class keeps the offset of about one line in each KB:
    looking up a lemma takes a binary search among these, and a search in the text between two of them."""

    def __init__(self, path: Path) -> None:
        self._text = text = _mapped(path)
        self._starts, self._lemmas = [0], [_lemma(text, 0)]
        while start := text.find(b"\n", self._starts[-1] + _BETWEEN) + 1:
            self._starts.append(start)
            self._lemmas.append(_lemma(text, start))
        self._starts.append(len(text))

    def line(self, lemma: bytes) -> str:
        """The line of a lemma; empty if there is none."""
        place = bisect_right(self._lemmas, lemma) - 1
        if place < 0 or not lemma:
            return ""
        begin, end = self._starts[place], self._starts[place + 1]
        if self._lemmas[place] != lemma:
            begin = self._text.find(b"\n%b " % lemma, begin, end) + 1
            if not begin:
                return ""
        return self._text[begin:end].partition(b"\n")[0].decode("utf-8", "replace")


def _lemma(text: mmap, start: int) -> bytes:
    """The lemma at the beginning of a line; empty for a line of the licence, which precedes all others."""
    return text[start : start + _LONGEST].split(b" ", 1)[0]


def _plain(sense: str) -> str:
    """A sense with the part of speech of its file: adjective satellites are in the file of adjectives."""
    return f"a{sense[1:]}" if sense[0] == "s" else sense
