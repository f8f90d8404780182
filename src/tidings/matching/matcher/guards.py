"""Rules that exclude a pair of phrases, however related their words are.

numerals    "room 101" is not "room 102": the phrases have different numbers
opposites   "occupied" is not "vacant": a word of one phrase is the opposite of a word of the other
"""

from collections import defaultdict
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache

from tidings.matching.language.notation import number_of
from tidings.matching.opposites import Opposites
from tidings.matching.words import words

_NEGATING = ("un", "non", "dis", "de")
_SHORTEST = 4
"""The fewest letters of a word that a negating prefix may precede."""
_KEPT = 4_096
"""How many words are cached with the words that they rule out."""


class Guard(StrEnum):
    NUMERALS = "numerals differ"
    OPPOSITES = "opposite words"


class Guards:
    """Finds which of a fixed set of phrases another phrase rules out. It uses look-ups, as there may be thousands."""

    def __init__(self, phrases: Sequence[str], opposites: Opposites) -> None:
        self._opposites = opposites
        self._words = [frozenset(words(phrase)) for phrase in phrases]
        self._numerals = [numerals(phrase) for phrase in phrases]
        self._numbered = frozenset(place for place, found in enumerate(self._numerals) if found)
        self._having: dict[str, list[int]] = defaultdict(list)
        for place, found in enumerate(self._words):
            for word in found:
                self._having[word].append(place)
        self._ruling: dict[str, list[str]] = defaultdict(list)
        """For each word, the words of the phrases that have it as an opposite."""
        for word in self._having:
            for other in self._opposed(word):
                self._ruling[other].append(word)
        self._against = lru_cache(_KEPT)(self._find_against)

    def ruled_out(self, phrase: str) -> set[int]:
        """The places of the phrases that this phrase rules out."""
        return self._by_numerals(phrase) | self._by_opposites(phrase)

    def why(self, phrase: str, place: int) -> Guard | None:
        if place in self._by_numerals(phrase):
            return Guard.NUMERALS
        return Guard.OPPOSITES if place in self._by_opposites(phrase) else None

    def _by_numerals(self, phrase: str) -> set[int]:
        """A phrase with numerals is ruled out unless the other has the same ones. If the other is a number, all phrases
        without numerals are ruled out."""
        mine = numerals(phrase)
        out = {place for place in self._numbered if self._numerals[place] != mine}
        if number_of(phrase) is not None:
            out |= set(range(len(self._words))) - self._numbered
        return out

    def _by_opposites(self, phrase: str) -> set[int]:
        """Phrases with an opposite of one of its words, in either direction. A phrase with both words of a pair is not
        ruled out."""
        mine = frozenset(words(phrase))
        out: set[int] = set()
        for word in mine:
            for other in self._against(word):
                if other not in mine:
                    out.update(place for place in self._having[other] if word not in self._words[place])
        return out

    def _find_against(self, word: str) -> tuple[str, ...]:
        """The words of the phrases that this word rules out."""
        found = self._opposed(word).union(self._ruling.get(word, ()))
        return tuple(other for other in found if other in self._having)

    def _opposed(self, word: str) -> set[str]:
        return {*self._opposites.opposites(word), *_negated(word)}


def _negated(word: str) -> set[str]:
    """The word with a negating prefix, or without its own: unsealed for sealed, charge for discharge."""
    if len(word) < _SHORTEST:
        return set()
    bare = {rest for prefix in _NEGATING if len(rest := word.removeprefix(prefix)) >= _SHORTEST and rest != word}
    return {f"{prefix}{word}" for prefix in _NEGATING} | bare


def numerals(phrase: str) -> frozenset[float]:
    """The numbers among the words of a phrase."""
    return frozenset(number for word in words(phrase) if (number := number_of(word)) is not None)
