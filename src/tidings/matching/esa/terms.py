"""Splits documents and phrases into terms: words in lower case, without their endings.

Numbers and stop words are not terms. Words may have letters of any script.
"""

import re
from collections import Counter

from tidings.matching.esa.stems import stem
from tidings.matching.words import spelled

_WORDS = re.compile(r"\w+")
LONGEST = 40
"""The most letters of a word; longer ones are not terms."""
_KEPT = 200_000
"""How many words are cached with their terms."""
_SAY_NOTHING = """
    a about above after again against all also although am among an and any are as at be because been before being
    below between both but by can cannot could did do does doing down during each either else etc few for from further
    had has have having he her here hers him his how however i if in into is it its itself just may me might more most
    much must my no nor not of off often on once one only or other others our out over own per rather same several shall
    she should since so some such than that the their them then there these they this those though through thus to too
    two under until up upon us use used uses using usually very via was we were what when where whether which while who
    whom whose why will with within without would you your
"""
STOPPED = frozenset(_SAY_NOTHING.split())
"""English words that say nothing about a text."""


class _Terms(dict[str, str]):
    """A cache of the term of each word, empty for a word that is not a term. A full cache is emptied: frequent words
    are soon in it again."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _KEPT:
            self.clear()
        found = self[word] = stem(word) if word not in STOPPED and _is_word(word) else ""
        return found


_term = _Terms()


def counted(text: str) -> Counter[str]:
    """The terms of a document, with their frequencies."""
    # `map` inside `Counter` takes half of the time of a Python loop over the distinct words
    found = Counter(map(_term.__getitem__, _WORDS.findall(text.lower().replace("_", " "))))
    found.pop("", None)
    return found


def terms(phrase: str) -> list[str]:
    """The terms of a phrase, in order. A phrase that consists of stop words only keeps them."""
    found = _WORDS.findall(spelled(phrase))  # `spelled` replaces `_` by a space, too
    return [term for word in found if (term := _term[word])] or [stem(word) for word in found if _is_word(word)]


def _is_word(word: str) -> bool:
    return 1 < len(word) <= LONGEST and not word.isdecimal()
