"""Reads single tokens as terms; slots are the places of a text from which the parser has lifted constants.

The parser replaces a lifted constant by a *parameter*: `$`, a letter for the kind of the constant, and a number. `$i`
is an IRI, `$s` a plain string, `$x` a string with datatype or language, `$n` a bare number. To the algebra, a parameter
is a constant; each evaluation gets the values of the parameters.
"""

from typing import Literal

from tidings.model.iris import resolve
from tidings.model.terms import XSD, Term, escape, unescape

_INTEGER, _DECIMAL, _DOUBLE = (f"^^<{XSD}{name}>" for name in ("integer", "decimal", "double"))
_LOCAL_ESCAPES = str.maketrans("", "", "\\")


def read_iri(token: str, prefixes: dict[str, str], base: str) -> Term | None:
    """An IRI or a prefixed name; None if it is neither, or the prefix is not declared."""
    if token[:1] == "<" and token[-1] == ">" and len(token) > 1:
        if token.startswith(("<http://", "<https://", "<urn:")):
            return token
        return f"<{resolve(base, token[1:-1])}>"
    prefix, colon, local = token.partition(":")
    if not colon or token[0] in "\"'_":
        return None
    start = prefixes.get(prefix)
    if start is None:
        return None
    if "\\" in local:
        local = local.translate(_LOCAL_ESCAPES)
    return f"{start}{local}>"


def read_string(token: str) -> str | None:
    """The characters of a quoted token; None if one of its escapes is no character."""
    quotes = 3 if token.startswith(('"""', "'''")) and len(token) >= 6 else 1
    text = token[quotes:-quotes]
    if "\\" in text:
        try:
            text = unescape(text)
            text.encode()
        except (KeyError, ValueError, OverflowError):
            return None
    return text


def read_number(token: str) -> Term:
    """The literal of a numeric token, with the lexical form that was written."""
    if "e" in token or "E" in token:
        return f'"{token}"{_DOUBLE}'
    return f'"{token}"{_DECIMAL}' if "." in token else f'"{token}"{_INTEGER}'


class Slot:
    """A place where a text may have any other constant of the same kind, and still has the same algebra."""

    __slots__ = ("_base", "_prefixes", "_suffix", "index", "kind")

    def __init__(self, index: int, token: str, term: Term, prefixes: dict[str, str], base: str) -> None:
        self.index = index
        self._prefixes = prefixes
        self._base = base
        self._suffix = "" if term[0] == "<" else term[term.rindex('"') + 1 :]
        self.kind: Literal["i", "s", "x", "n"] = "i"
        if term[0] != "<":
            self.kind = "n" if token[0] not in "\"'" else "x" if self._suffix else "s"

    def read(self, token: str) -> Term | None:
        """The constant of this kind that the token is; None if it is no such constant."""
        if self.kind == "i":
            return read_iri(token, self._prefixes, self._base)
        if self.kind == "n":
            return read_number(token) if token[-1:].isdigit() and token[0] in "0123456789+-." else None
        if token[:1] not in {'"', "'"} or len(token) < 2:
            return None
        text = read_string(token)
        return None if text is None else f'"{escape(text)}"{self._suffix}'
