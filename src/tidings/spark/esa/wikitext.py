"""Extracts the text of a wiki page. Only its terms are needed, so remains of punctuation do no harm. Words that readers
do not see must go: templates, references, addresses, names of files.

Every pattern stops at the next opening sign, and a missing end is searched for only once, so that the time is linear in
the length of the text, even if it is badly nested.
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
    """The visible text of a page, from its wikitext."""
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
    """The shown part of a link. A function takes half of the time of a replacement template."""
    return link[1]


def _without_unspoken(text: str) -> str:
    """The text without comments and elements that are not text of the page. One without an end stays."""
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
