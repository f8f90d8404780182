"""The wording of a text: a regular expression with a group for each constant. It recognizes the next text of the same
kind, and finds its constants, without tokenizing it.

    INSERT DATA { <urn:lamp:1> <urn:power> 40 }      ->  INSERT DATA { (an IRI) <urn:power> (a number) }

A text that matches has the same tokens as the first one, except for the constants. To guarantee that, a text has a
wording only if the characters before and behind each constant end a token, whatever the constant is.
"""

import re
from collections.abc import Iterable
from typing import TypeAlias

from tidings.sparql.parser.tokens import IRI, NUMBER, STRINGS, TOKENS

Wording: TypeAlias = re.Pattern[str]

_BEFORE = frozenset(" \t\r\n{}(),;[]")
_BEHIND = frozenset(" \t\r\n{}(),;[]")
_BEHIND_QUOTES = _BEHIND | frozenset(".^@")
"""Characters behind IRIs and strings, which end with a delimiter."""
_NAME = r"(?:[A-Za-z][A-Za-z0-9_-]*+)?:[A-Za-z0-9_][A-Za-z0-9_-]*+"
"""Prefixed names of plain characters only: a regular expression of all prefixed names takes 20 ms to compile."""
_LONGEST = 4_096
_MOST = 16
"""Constants of a text with a wording; compiling a wording with so many takes 3 ms."""


def wording(text: str, places: Iterable[int]) -> Wording | None:
    """The wording of a text; `places` are the numbers of the tokens that are constants. None if the text is too long,
    has too many constants or a backslash, or a constant does not stand between characters that end a token."""
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
    """A regular expression of tokens of the same kind. It never matches a part of a token."""
    first = token[0]
    kinds = (
        (IRI,) if first == "<" else STRINGS if first in "\"'" else (NUMBER,) if first in "+-.0123456789" else (_NAME,)
    )
    return f"(?>{'|'.join(kinds)})"
