"""The wording of a text: all of it but its constants, so that the next text of its kind is told without reading it.

    INSERT DATA { <urn:lamp:1> <urn:power> 40 }      ->  INSERT DATA { (an IRI) <urn:power> (a number) }

A text that matches has the tokens of the first one, with others in the places of constants: a constant is taken for a
token of its own only where what stands before and behind it must end a token, whatever the constant is.
"""

import re
from collections.abc import Iterable
from typing import TypeAlias

from tidings.sparql.parser.tokens import IRI, NUMBER, STRINGS, TOKENS

Wording: TypeAlias = re.Pattern[str]

_BEFORE = frozenset(" \t\r\n{}(),;[]")
_BEHIND = frozenset(" \t\r\n{}(),;[]")
_BEHIND_QUOTES = _BEHIND | frozenset(".^@")
"""Behind what ends with a character of its own, as IRIs and strings do."""
_NAME = r"(?:[A-Za-z][A-Za-z0-9_-]*+)?:[A-Za-z0-9_][A-Za-z0-9_-]*+"
"""Prefixed names, the plain ones: to compile all that may be in a name takes 20 ms."""
_LONGEST = 4_096
_MOST = 16
"""Constants; to compile a wording with so many takes 3 ms."""


def wording(text: str, places: Iterable[int]) -> Wording | None:
    """The wording of a text, of whose tokens some are constants; each is a group. None if it has none, or is long."""
    wanted = set(places)
    if len(text) > _LONGEST or len(wanted) > _MOST or "\\" in text:
        return None
    pieces: list[str] = []
    end = 0
    for number, found in enumerate(TOKENS.finditer(text)):
        if number in wanted:
            start, token = found.start(1), found[1]
            behind = _BEHIND_QUOTES if token[0] in "<\"'" else _BEHIND
            if text[start - 1 : start] not in _BEFORE or text[found.end(1) : found.end(1) + 1] not in behind:
                return None
            pieces += (re.escape(text[end:start]), "(", _like(token), ")")
            end = found.end(1)
    return re.compile("".join((*pieces, re.escape(text[end:]))), re.DOTALL)


def _like(token: str) -> str:
    """A regular expression of tokens of the same kind. It takes all of a token or none of it."""
    first = token[0]
    kinds = (
        (IRI,) if first == "<" else STRINGS if first in "\"'" else (NUMBER,) if first in "+-.0123456789" else (_NAME,)
    )
    return f"(?>{'|'.join(kinds)})"
