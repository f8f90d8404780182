"""Colours for terminals that want them, and text without control characters. Needs only Python's standard library."""

import os
import re
from typing import IO

_PAINTS = {"-": "\x1b[31m", "+": "\x1b[32m"}
_PLAIN = "\x1b[0m"
_HARMFUL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def wants_colour(stream: IO[str]) -> bool:
    """Whether to use colours: on a terminal that has them, unless the environment forbids it (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def signed(sign: str, text: str, *, colour: bool) -> str:
    """A line for something added (`+`, green) or removed (`-`, red)."""
    return f"{_PAINTS[sign]}{sign} {text}{_PLAIN}\n" if colour else f"{sign} {text}\n"


def harmless(text: str) -> str:
    """The text with escapes in place of control characters, so that data cannot control the terminal."""
    return _HARMFUL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
