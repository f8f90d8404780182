"""Finds the base forms of inflected words, as WordNet's own programs do (morphy(7WN)): the ending of a word says which
parts of speech its base form may be. "recording" is a form of the verb "record", not of the noun; "called off" is a
form of "call off".
"""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache

_ENDINGS = (
    ("ies", "y", "nv"), ("es", "", "nv"), ("s", "", "nv"), ("ied", "y", "v"), ("ed", "", "v"), ("ed", "e", "v"),
    ("ing", "", "v"), ("ing", "e", "v"), ("er", "", "nvar"), ("er", "e", "nvar"),
)  # fmt: skip
"""Endings, what replaces them in the base form, and its parts of speech. A word in -er, such as "printer", may come
from any part of speech."""
_VERBS = """
    beat beaten, become became, begin began begun, bend bent, bind bound, bite bit bitten, bleed bled
    blow blew blown, break broke broken, breed bred, bring brought, build built, burn burnt, buy bought
    catch caught, choose chose chosen, cling clung, come came, creep crept, deal dealt, dig dug, draw drew drawn
    dream dreamt, drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel felt
    fight fought, find found, flee fled, fly flew flown, forbid forbade forbidden, forget forgot forgotten
    freeze froze frozen, get got gotten, give gave given, go went gone, grind ground, grow grew grown, hang hung
    have had, hear heard, hide hid hidden, hold held, keep kept, know knew known, lay laid, lead led, lean leant
    learn learnt, leave left, lend lent, lie lay lain, light lit, lose lost, make made, mean meant, meet met
    mow mown, pay paid, prove proven, ride rode ridden, ring rang rung, rise rose risen, run ran, saw sawn, say said
    see saw seen, seek sought, sell sold, send sent, sew sewn, shake shook shaken, shear shorn, shine shone
    shoot shot, show shown, shrink shrank shrunk, sing sang sung, sink sank sunk, sit sat, sleep slept, slide slid
    smell smelt, sow sown, speak spoke spoken, speed sped, spend spent, spill spilt, spin spun, spoil spoilt
    spring sprang sprung, stand stood, steal stole stolen, stick stuck, sting stung, strike struck stricken
    string strung, strive strove striven, swear swore sworn, sweep swept, swell swollen, swim swam swum, swing swung
    take took taken, teach taught, tear tore torn, tell told, think thought, throw threw thrown, tread trod trodden
    wake woke woken, wear wore worn, weave wove woven, weep wept, win won, wind wound, withdraw withdrew withdrawn
    write wrote written
"""
_NOUNS = """
    man men, woman women, child children, person people, foot feet, tooth teeth, goose geese, mouse mice, ox oxen
    knife knives, life lives, wife wives, leaf leaves, half halves, shelf shelves, loaf loaves, thief thieves
    wolf wolves
"""


def base_forms(item: str) -> Iterator[tuple[str, str]]:
    """The item and its possible base forms, each with its possible parts of speech. Not all of them are words."""
    yield item, "nvar"
    first, several, rest = item.partition(" ")
    if not several:
        yield from _of_word(item)
        return
    begin, _, last = item.rpartition(" ")
    yield from ((f"{form} {rest}", "v") for form, parts in _of_word(first) if "v" in parts)
    yield from ((f"{begin} {form}", "n") for form, parts in _of_word(last) if "n" in parts)


def _of_word(word: str) -> Iterator[tuple[str, str]]:
    yield from _irregular().get(word, ())
    for ending, base, parts in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: -len(ending)]
            yield stem + base, parts
            if not base and len(stem) > 3 and stem[-1] == stem[-2]:
                yield stem[:-1], parts  # stopped, shipping


@cache
def _irregular() -> dict[str, list[tuple[str, str]]]:
    """The base forms and parts of speech of irregular forms."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for text, part in ((_VERBS, "v"), (_NOUNS, "n")):
        for line in text.strip().replace("\n", ",").split(","):
            base, *forms = line.split()
            for form in forms:
                found[form].append((base, part))
    return dict(found)


def inflected(verb: str) -> Iterator[str]:
    """The possible forms of a verb: closed and closing are forms of close. Not all of them are words."""
    stem = verb.removesuffix("e")
    yield from (verb, f"{verb}s", f"{stem}ed", f"{stem}ing", f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing")
    yield from (form for form, bases in _irregular().items() if (verb, "v") in bases)
