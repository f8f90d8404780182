"""Words without their endings, by the rules of Porter (1980): parking, parked and parks are all `park`.

A word is [C](VC)^m[V], sequences of consonants and vowels; its measure m tells whether enough of it remains without an
ending. The rules are for words of a to z only; other words stay as they are.
"""

import re

_PLAIN = re.compile(r"[a-z]{3,40}")
_SHAPES = str.maketrans("abcdefghijklmnopqrstuvwxz", "vcccvcccvcccccvcccccvcccc")  # y is either

_SECOND = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("abli", "able"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"),
)  # fmt: skip
_THIRD = (("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""))
_FOURTH = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip
_LONGEST_FIRST = tuple(sorted(_FOURTH, key=len, reverse=True))


def stem(word: str) -> str:
    """The stem of a word in lower case."""
    if not _PLAIN.fullmatch(word):
        return word
    return _last(_fourth(_third(_second(_y(_past(_plural(word)))))))


def _shape(word: str) -> str:
    """The word with v in place of each vowel, and c in place of each consonant. y is a vowel after a consonant."""
    shape = word.translate(_SHAPES)
    while (place := shape.find("y")) >= 0:
        shape = shape[:place] + ("v" if shape[:place].endswith("c") else "c") + shape[place + 1 :]
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _closed(word: str) -> bool:
    """Whether it ends like `hop`, with consonant, vowel, consonant, and the last letter is not w, x or y."""
    return len(word) >= 3 and _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _doubled(word: str) -> bool:
    return len(word) >= 2 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        rest = word.removesuffix(ending)
        if rest != word and "v" in _shape(rest):
            return _mended(rest)
    return word


def _mended(rest: str) -> str:
    """Reverses what an ending has changed in the stem: hop(p)ing, conflat(e)d."""
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _doubled(rest) and rest[-1] not in "lsz":
        return rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _closed(rest) else rest


def _y(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and "v" in _shape(word[:-1]) else word


def _replaced(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    for ending, instead in rules:
        if word.endswith(ending):
            rest = word.removesuffix(ending)
            return rest + instead if _measure(rest) > 0 else word
    return word


def _second(word: str) -> str:
    return _replaced(word, _SECOND)


def _third(word: str) -> str:
    return _replaced(word, _THIRD)


def _fourth(word: str) -> str:
    for ending in _LONGEST_FIRST:
        if word.endswith(ending):
            rest = word.removesuffix(ending)
            if ending == "ion" and not rest.endswith(("s", "t")):
                return word
            return rest if _measure(rest) > 1 else word
    return word


def _last(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _closed(word[:-1])):
            word = word[:-1]
    return word[:-1] if _doubled(word) and word[-1] == "l" and _measure(word) > 1 else word
