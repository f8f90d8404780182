"""Small MediaWiki dumps for tests: plain, packed in one stream, in many, and in ways that no wiki would."""

import bz2
import random
from collections.abc import Iterable
from xml.sax.saxutils import escape

HEAD = '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">\n  <siteinfo/>\n'
FOOT = "</mediawiki>\n"


def page(number: int, title: str, text: str, *, space: int = 0, redirect: str = "") -> str:
    target = f'    <redirect title="{redirect}" />\n' if redirect else ""
    return (
        f"  <page>\n    <title>{escape(title)}</title>\n    <ns>{space}</ns>\n    <id>{number}</id>\n{target}"
        f'    <revision>\n      <id>9{number}</id>\n      <text bytes="{len(text)}" xml:space="preserve">'
        f"{escape(text)}</text>\n    </revision>\n  </page>\n"
    )


def dump(pages: Iterable[str]) -> bytes:
    return (HEAD + "".join(pages) + FOOT).encode()


def multistream(pages: list[str], each: int) -> bytes:
    """As Wikipedia packs them: the head, so many pages a stream, the foot."""
    groups = ["".join(pages[start : start + each]) for start in range(0, len(pages), each)]
    return b"".join(bz2.compress(part.encode()) for part in (HEAD, *groups, FOOT))


def chopped(text: bytes, size: int) -> bytes:
    """Streams that begin anywhere in the text, as pbzip2 makes them."""
    return b"".join(bz2.compress(text[start : start + size]) for start in range(0, len(text), size))


def articles(number: int) -> list[str]:
    """Pages of words that are made up, each of which some of them have."""
    chance = random.Random(number)
    words = [first + last for first in ("par", "veh", "win", "san", "tem", "cit", "lam", "roa") for last in _ENDINGS]
    return [page(each + 1, f"Page {each}", " ".join(chance.sample(words, 40))) for each in range(number)]


_ENDINGS = [first + last for first in "bdgklmnprtvz" for last in ("ako", "elu", "ima", "oru", "uti")]
