"""Text to terms, for documents and for phrases alike: words in lower case, without their endings.

Numbers are no terms, and neither are words that every text has. Letters of any script make words.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from tidings.matching.esa.stems import stem
from tidings.matching.words import spelled

_WORDS = re.compile(r"[^\W_]+")
LONGEST = 40
"""Letters of a word; what is longer is none."""
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


def counted(text: str) -> Counter[str]:
    """The terms of a document, and how often it has each. Endings go once for each word that differs."""
    result: Counter[str] = Counter()
    known = result.get
    for word, count in Counter(_WORDS.findall(text.lower())).items():
        if (term := _term(word)) is not None:
            result[term] = known(term, 0) + count
    return result


def terms(phrase: str) -> list[str]:
    """The terms of a phrase, in order. A phrase of nothing but stopped words keeps them: better than nothing."""
    found = _WORDS.findall(spelled(phrase))
    return list(_kept(found)) or [stem(word) for word in found if _is_word(word)]


def _kept(found: Iterable[str]) -> Iterator[str]:
    for word in found:
        if (term := _term(word)) is not None:
            yield term


@lru_cache(maxsize=200_000)
def _term(word: str) -> str | None:
    return stem(word) if word not in STOPPED and _is_word(word) else None


def _is_word(word: str) -> bool:
    return 1 < len(word) <= LONGEST and not word.isdecimal()
