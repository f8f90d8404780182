"""From text to terms, the same for documents and for phrases: words in lower case, without their endings.

Numbers and stop words are no terms. Words may have letters of any script.
"""

import re
from collections import Counter

from tidings.matching.esa.stems import stem
from tidings.matching.words import spelled

_WORDS = re.compile(r"\w+")
LONGEST = 40
"""Letters of a word; what is longer is none."""
_KEPT = 200_000
"""Words whose terms are remembered."""
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
    """The term of each word, empty for those that are none. When it is full it is emptied: words come again soon."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _KEPT:
            self.clear()
        found = self[word] = stem(word) if word not in STOPPED and _is_word(word) else ""
        return found


_term = _Terms()


def counted(text: str) -> Counter[str]:
    """The terms of a document, and how often it has each."""
    # no loop of ours: half of the time of one over the different words
    found = Counter(map(_term.__getitem__, _WORDS.findall(text.lower().replace("_", " "))))
    found.pop("", None)
    return found


def terms(phrase: str) -> list[str]:
    """The terms of a phrase, in order. A phrase of nothing but stopped words keeps them: better than nothing."""
    found = _WORDS.findall(spelled(phrase))  # `_` parts words, in a spelling as well
    return [term for word in found if (term := _term[word])] or [stem(word) for word in found if _is_word(word)]


def _is_word(word: str) -> bool:
    return 1 < len(word) <= LONGEST and not word.isdecimal()
