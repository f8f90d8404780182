"""The terminals of the SPARQL grammar (section 19.8) as one regular expression.

`TOKENS.findall(text)` is the whole tokenizer: white space and comments are skipped in the same match, a character
that starts no token is a token of its own, and the end of the text is the empty token. The first character of a token
tells its kind, so tokens are plain strings. The place of a token is computed only for an error message.
"""

import re

_BASE = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME = _BASE + "_0-9"
_CHARS = _NAME + "\\-\u00b7\u0300-\u036f\u203f-\u2040"
_PLX = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
# First a run of plain characters, then a loop over dots and escapes with the runs after them: most names are one run.
_LOCAL = rf"(?:[{_NAME}:]|{_PLX})[{_CHARS}:]*+(?:(?:\.++(?=[{_CHARS}:%\\])|{_PLX})[{_CHARS}:]*+)*+"
_WORD = rf"[{_BASE}][{_CHARS}]*+(?:\.++[{_CHARS}]++)*+"
_EXPONENT = r"[eE][+-]?[0-9]+"

IRI = r'<[^<>"{}|^`\\\x00-\x20]*>'
STRINGS = (
    r'"""(?:"{0,2}(?:[^"\\]++|\\.))*+"""',
    r"'''(?:'{0,2}(?:[^'\\]++|\\.))*+'''",
    r'"[^"\\\n\r]*+(?:\\.[^"\\\n\r]*+)*+"',
    r"'[^'\\\n\r]*+(?:\\.[^'\\\n\r]*+)*+'",
)
NUMBER = rf"[+-]?(?:[0-9]+(?:\.[0-9]*{_EXPONENT}|{_EXPONENT}|\.[0-9]+)?|\.[0-9]+(?:{_EXPONENT})?)"

_ALTERNATIVES = (
    rf"[?$][{_NAME}][{_NAME}\u00b7\u0300-\u036f\u203f-\u2040]*",
    rf"{_WORD}(?::(?:{_LOCAL})?)?",  # a keyword, or a prefixed name
    rf":(?:{_LOCAL})?",
    r"[{};,()]|\.(?![0-9])",
    IRI,
    *STRINGS,
    NUMBER,
    rf"_:[{_NAME}](?:[{_CHARS}]+|\.+(?=[{_CHARS}]))*+",
    r"@[A-Za-z]+(?:-[A-Za-z0-9]+)*",
    r"\^\^|\|\||&&|!=|<=|>=",
    r".",
    r"",
)

TOKENS = re.compile(rf"[ \t\r\n]*+(?:#[^\r\n]*+[ \t\r\n]*+)*+({'|'.join(_ALTERNATIVES)})", re.DOTALL)

_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")

# IRIs, escapes in local names and comments come first: they may hold quotation marks that begin no string.
_QUOTING = (r'<[^<>"{}|^`\x00-\x20]*+>', r"\\[^uU]", r"#[^\r\n]*+")
_CODEPOINT = re.compile("|".join((*_QUOTING, *STRINGS, _ESCAPE.pattern)), re.DOTALL)


def tokenize(text: str) -> list[str]:
    """All tokens of a text whose code point escapes have been replaced; the last one is empty."""
    return TOKENS.findall(text)


def replace_codepoint_escapes(text: str) -> str:
    r"""Section 19.2: `\u` and `\U` outside of strings become the characters they name.

    `read_string` replaces those inside strings: here, an escaped quotation mark would end the string.
    """
    if "\\u" not in text and "\\U" not in text:
        return text
    return _CODEPOINT.sub(_replace_codepoint, text)


def _replace_codepoint(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    if digits is None:
        return _ESCAPE.sub(_replace_codepoint, match[0]) if match[0][0] == "<" else match[0]
    codepoint = int(digits, 16)
    # An escape that is no character stays as it is; the parser then reports it at its place.
    return chr(codepoint) if codepoint < 0x110000 and not 0xD800 <= codepoint < 0xE000 else match[0]


def locate(text: str, index: int) -> tuple[int, int]:
    """Line and column, both from 1, at which token number `index` starts."""
    start = 0
    for number, match in enumerate(TOKENS.finditer(text)):
        start = match.start(1)
        if number == index:
            break
    before = text[:start]
    return before.count("\n") + 1, start - (before.rfind("\n") + 1) + 1
