"""What a page of a wiki says, without its markup. Terms are all that is wanted of it, so what is left of punctuation
does no harm; what must go are words that nobody reads: templates, references, addresses, names of files.

Every pattern stops at the next opening sign, and an end that is missing is looked for once, so that the time grows with
the text, however badly it is nested.
"""

import html
import re

_DEEPEST = 8
_COMMENT = "!--"
_UNSPOKEN = ("ref", "math", "gallery", "timeline", "syntaxhighlight", "source", "score")
_OPENING = re.compile(rf"<(?:({_COMMENT})|({'|'.join(_UNSPOKEN)})\b[^<>]*>)", re.IGNORECASE)
_CLOSING = {name: re.compile(rf"</{name}\s*>", re.IGNORECASE) for name in _UNSPOKEN} | {_COMMENT: re.compile("-->")}
_TEMPLATE = re.compile(r"\{\{[^{}]*\}\}")
_TABLE = re.compile(r"\{\|[^{}]*\|\}")
_ASIDE = re.compile(r"\[\[(?:file|image|media)\s*:[^\[\]]*\]\]", re.IGNORECASE)
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]")
_ADDRESS = re.compile(r"(?:https?|ftp)://[^\s\]<>]+")
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_MAGIC = re.compile(r"__[A-Z]+__")


def spoken(wikitext: str) -> str:
    """The text of a page, given as it stands in the wiki."""
    text = _without_unspoken(wikitext)
    text = _innermost_first(_TEMPLATE, text)
    text = _innermost_first(_TABLE, text)
    text = _LINK.sub(_shown, _ASIDE.sub(" ", text))
    text = _ASIDE.sub(" ", text)  # a file whose caption had links
    if "://" in text:
        text = _ADDRESS.sub(" ", text)
    text = _MAGIC.sub(" ", _TAG.sub(" ", text))
    return html.unescape(text)


def _shown(link: re.Match[str]) -> str:
    """A function takes half of the time of a template."""
    return link[1]


def _without_unspoken(text: str) -> str:
    """Comments and elements that are no text of the page go, with all that is in them; one without an end stays."""
    kept: list[str] = []
    place = 0
    endless: set[str] = set()
    for opening in _OPENING.finditer(text):
        name = (opening[1] or opening[2]).lower()
        if opening.start() < place or name in endless:
            continue
        closing = opening if opening[0].endswith("/>") else _CLOSING[name].search(text, opening.end())
        if closing is None:
            endless.add(name)
            continue
        kept.append(text[place : opening.start()])
        place = closing.end()
    return " ".join([*kept, text[place:]])


def _innermost_first(pattern: re.Pattern[str], text: str) -> str:
    for _ in range(_DEEPEST):
        text, found = pattern.subn(" ", text)
        if not found:
            break
    return text
