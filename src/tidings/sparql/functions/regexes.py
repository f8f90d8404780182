"""`REGEX` and `REPLACE` (SPARQL 1.1, 17.4.3.14 and 17.4.3.15), with the semantics of `fn:matches` and `fn:replace`.

A pattern that is not valid is an error, and so is a match that takes longer than `TIME_LIMIT`: a query cannot block the
broker with `(a*)*b`. A pattern that is too large to be compiled quickly raises RequestTooComplex.
"""

import re
from functools import lru_cache

import regex  # type: ignore[import-untyped]

from tidings.model.terms import Term
from tidings.sparql.functions.patterns import PatternError, translate
from tidings.sparql.functions.strings import check_length, retext, string_text
from tidings.sparql.values import Text, decode, encode_boolean

TIME_LIMIT = 1.0
"""Seconds that one match may take, unless the caller gives it less."""

_FLAGS = frozenset("smixq")
_REFERENCE = re.compile(r"\\([\\$])|\$([0-9]{1,4})|([\\$])")


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str, flags: str) -> "regex.Pattern[str] | None":
    """A pattern of XPath ready for use; None if the pattern or a flag is not valid."""
    if not _FLAGS.issuperset(flags):
        return None
    try:
        translated = translate(pattern, flags)
        if "i" in flags:  # simple case folding: with full case folding, ß would match SS
            return regex.compile(f"(?-f:{translated})", regex.VERSION1 | regex.IGNORECASE)
        return regex.compile(translated, regex.VERSION1)
    except (PatternError, regex.error, OverflowError, RecursionError):
        return None


def _simple(term: Term) -> str | None:
    value = decode(term)
    return value.text if isinstance(value, Text) else None


def matches(term: Term, pattern: Term, flags: Term = '""', *, seconds: float = TIME_LIMIT) -> Term | None:
    text, source, letters = string_text(term), _simple(pattern), _simple(flags)
    if text is None or source is None or letters is None:
        return None
    compiled = compile_pattern(source, letters)
    if compiled is None:
        return None
    try:
        return encode_boolean(compiled.search(text, timeout=seconds) is not None)
    except TimeoutError:
        return None


def replace(
    term: Term, pattern: Term, replacement: Term, flags: Term = '""', *, seconds: float = TIME_LIMIT
) -> Term | None:
    """`REPLACE`. A pattern that matches the empty string is an error (FORX0003), because it would match at every place.
    Raises TextTooLong."""
    text, source, by, letters = string_text(term), _simple(pattern), _simple(replacement), _simple(flags)
    if text is None or source is None or by is None or letters is None:
        return None
    compiled = compile_pattern(source, letters)
    if compiled is None:
        return None
    parts: list[str | int] | None = [by] if "q" in letters else template(by, compiled.groups)
    if parts is None:
        return None
    try:
        if compiled.search("", timeout=seconds):
            return None
        return retext(term, compiled.sub(_Replacement(parts, len(text)), text, timeout=seconds))
    except TimeoutError:
        return None


class _Replacement:
    """Computes the replacement of each match, and checks the length of the text before it is built."""

    __slots__ = ("_parts", "_size")

    def __init__(self, parts: list[str | int], size: int) -> None:
        self._parts = parts
        self._size = size

    def __call__(self, match: "regex.Match[str]") -> str:
        text = expand(self._parts, match)
        self._size += len(text) - (match.end() - match.start())
        check_length(self._size)
        return text


def template(replacement: str, groups: int) -> list[str | int] | None:
    r"""Texts and numbers of groups in turn; None if a `$` or a `\` stands alone.

    After `$`, as many digits as make the number of a group are the reference, and the others are text. The first digit
    always belongs to the reference; if there is no such group, the reference is empty.
    """
    parts: list[str | int] = []
    at = 0
    for match in _REFERENCE.finditer(replacement):
        escaped, digits, alone = match.groups()
        if alone:
            return None
        parts.append(replacement[at : match.start()])
        at = match.end()
        if escaped:
            parts.append(escaped)
            continue
        count = next((n for n in range(len(digits), 1, -1) if int(digits[:n]) <= groups), 1)
        parts.extend((int(digits[:count]), digits[count:]))
    return [*parts, replacement[at:]]


def expand(parts: list[str | int], match: "regex.Match[str]") -> str:
    known = match.re.groups
    return "".join(part if isinstance(part, str) else (match[part] or "") if part <= known else "" for part in parts)
