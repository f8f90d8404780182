"""Keeps the case of language tags, which pyoxigraph's parsers convert to lower case.

Before the parser, `hide` replaces every tag with an upper-case letter by a placeholder, a valid lower-case tag

    EN-gb  ->  x-<nonce>-<nonce>-7

and after it, `restore` replaces the placeholders in terms by the tags. The substitution ignores the context, so it also
replaces and restores parts of strings, IRIs or comments that merely look like tags; to the syntax, a tag and its
placeholder are alike, as both are letters, digits and hyphens between the same neighbours. The nonce has 64 random bits
and is new for every document, so no document contains it by itself.
"""

import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import Literal

from tidings.model.formats.grammar import LANGUAGE


@dataclass(frozen=True, slots=True)
class TagSyntax:
    """Finds tags in a syntax: `tag` matches the text before a tag and the tag, `cut_off` a beginning of both at the end
    of a chunk."""

    tag: re.Pattern[bytes]
    cut_off: re.Pattern[bytes]


_UPPER_CASE = rb"([a-z0-9-]*[A-Z][A-Za-z0-9-]*)"

AT_SIGN = TagSyntax(re.compile(rb"(@)" + _UPPER_CASE), re.compile(rb"@[A-Za-z0-9-]*\Z"))
"""Turtle and TriG."""

XML_LANG = TagSyntax(
    re.compile(rb"(xml:lang[ \t\r\n]*=[ \t\r\n]*[\"'])" + _UPPER_CASE + rb"(?=[\"'])"),
    re.compile(rb"x(?:m(?:l(?::(?:l(?:a(?:n(?:g(?:[ \t\r\n]*(?:=[ \t\r\n]*(?:[\"'][A-Za-z0-9-]*)?)?)?)?)?)?)?)?)?)?\Z"),
)
"""RDF/XML. A tag spelt with references (`&#69;N`, or an entity of the document type) is lower-cased all the same."""


class TagCases:
    """The tags of one document, and their placeholders."""

    def __init__(self, syntax: TagSyntax) -> None:
        self._syntax = syntax
        self._nonce = f"x-{secrets.token_hex(4)}-{secrets.token_hex(4)}-"
        self._placeholder = re.compile(self._nonce + "([0-9]+)")
        self._numbers: dict[bytes, bytes] = {}
        self._tags: list[str] = []

    def hide(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """The document with placeholders. A possible beginning of a tag at the end of a chunk joins the next chunk."""
        tag, cut_off = self._syntax.tag, self._syntax.cut_off
        held = b""
        for chunk in chunks:
            window = held + chunk
            cut = cut_off.search(window)
            end = cut.start() if cut else len(window)
            held = window[end:]
            if end:
                yield tag.sub(self._hide_one, window[:end])
        if held:
            yield tag.sub(self._hide_one, held)

    def _hide_one(self, match: re.Match[bytes]) -> bytes:
        before, tag = match.groups()
        placeholder = self._numbers.get(tag)
        if placeholder is None:
            placeholder = self._numbers[tag] = self._new_placeholder(tag)
        return before + placeholder

    def _new_placeholder(self, tag: bytes) -> bytes:
        text = tag.decode("ascii")
        try:
            Literal("", language=text)
        except ValueError:  # it stays as it is: the parser then reports an invalid tag; in a string, it is harmless
            return tag
        if not LANGUAGE.fullmatch(text):
            return tag
        self._tags.append(text)
        return f"{self._nonce}{len(self._tags) - 1}".encode("ascii")

    def restore(self, text: str) -> str:
        """A term or a message of the parser, with the tags in their own case."""
        if self._tags and self._nonce in text:
            return self._placeholder.sub(lambda match: self._tags[int(match[1])], text)
        return text
