r"""Regular expressions of XPath and XQuery, translated to those of the `regex` package (in its version 1).

Where the two differ: `^` and `$` mean the very ends of the string unless flag `m` is set, `.` leaves out both `\n` and
`\r`, `\w` is what is no punctuation, separator or control, `\i` and `\c` are the characters of XML names, a class may
be subtracted from another (`[a-z-[aeiou]]`), and there are no look-arounds, inline flags or possessive quantifiers.
"""

import re
from typing import Final

import regex  # type: ignore[import-untyped]

from tidings.model.errors import RequestTooComplex

_NAME_START: Final = (
    r":A-Z_a-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C\u200D\u2070-\u218F"
    r"\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD\U00010000-\U000EFFFF"
)
_NAME: Final = rf"{_NAME_START}\-.0-9\u00B7\u0300-\u036F\u203F\u2040"
_CLASSES: Final = {
    "s": r"[ \t\n\r]",
    "S": r"[^ \t\n\r]",
    "d": r"\p{Nd}",
    "D": r"\P{Nd}",
    "w": r"[^\p{P}\p{Z}\p{C}]",
    "W": r"[\p{P}\p{Z}\p{C}]",
    "i": f"[{_NAME_START}]",
    "I": f"[^{_NAME_START}]",
    "c": f"[{_NAME}]",
    "C": f"[^{_NAME}]",
}
_CONTROLS: Final = {"n": r"\n", "r": r"\r", "t": r"\t"}
_PUNCTUATION: Final = frozenset(r"\|.?*+(){}-[]^$")
_CATEGORY = re.compile(r"([pP])\{(L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cfon]?|Is[A-Za-z0-9-]+)\}")
_QUANTIFIER = re.compile(r"(?:[?*+]|\{([0-9]+)(?:,[0-9]*)?\})\??")
_REFERENCE = re.compile(r"[0-9]{1,4}")
_BLOCKS: Final = {
    "Greek": "GreekandCoptic",
    "CombiningMarksforSymbols": "CombiningDiacriticalMarksforSymbols",
    "PrivateUse": "PrivateUseArea",
}
"""Names of blocks in XML Schema that Unicode has renamed since."""


MOST_PARTS: Final = 4_000
"""Characters and classes of a pattern, each multiplied by its repetitions: the time to compile it grows with these."""


class PatternError(ValueError):
    """Not a regular expression of XPath."""


def translate(pattern: str, flags: str) -> str:
    """The same pattern for the `regex` package. Raises PatternError if it is not one of XPath, RequestTooComplex."""
    if "q" in flags:
        _check_parts(len(pattern))
        return str(regex.escape(pattern))
    return _Translator(_without_space(pattern) if "x" in flags else pattern, flags).translate()


def _check_parts(parts: int) -> None:
    if parts > MOST_PARTS:
        said = f"a regular expression may have {MOST_PARTS:,} characters and classes, repetitions counted"
        raise RequestTooComplex(said, measured=parts, limit=MOST_PARTS)


def _without_space(pattern: str) -> str:
    """Flag `x`: drop the white space outside of character classes."""
    kept, depth, escaped = [], 0, False
    for char in pattern:
        if depth == 0 and char in " \t\n\r":
            continue
        if not escaped:
            depth += (char == "[") - (char == "]" and depth > 0)
        escaped = char == "\\" and not escaped
        kept.append(char)
    return "".join(kept)


class _Translator:
    """One pass over a pattern, from left to right, keeping track of the groups."""

    def __init__(self, pattern: str, flags: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._open: list[int] = []
        self._groups = 0
        self._closed: set[int] = set()
        self._parts = [0]
        """The number of parts of the whole pattern, and of each group that is open."""
        lines, anything = "m" in flags, "s" in flags
        self._plain = {
            ".": r"(?s:.)" if anything else r"[^\n\r]",
            "^": r"(?:\A|(?<=\n)(?!\Z))" if lines else r"\A",
            "$": r"(?=\n|\Z)" if lines else r"\Z",
        }

    def translate(self) -> str:
        pattern, parts = self._pattern, []
        repeatable = False  # whether a quantifier may follow
        repeated = 0
        while self._at < len(pattern):
            char = pattern[self._at]
            if quantifier := _QUANTIFIER.match(pattern, self._at):
                if not repeatable:
                    raise PatternError(f"nothing to repeat at {self._at}")
                self._at, repeatable = quantifier.end(), False
                parts.append(quantifier[0])
                if (least := quantifier[1]) is not None:
                    self._count(repeated * (int(least[:9]) - 1))
                continue
            repeatable = char not in "(|"
            parts.append(self._atom(char))
            repeated = self._size_of(char)
            self._count(repeated)
        if self._open:
            raise PatternError("a group is not closed")
        return "".join(parts)

    def _size_of(self, char: str) -> int:
        """How many parts the atom has that the translator has just read."""
        if char == "(":
            self._parts.append(0)
            return 0
        return self._parts.pop() + 1 if char == ")" else 1

    def _count(self, parts: int) -> None:
        self._parts[-1] += parts
        _check_parts(self._parts[-1])

    def _atom(self, char: str) -> str:
        if char == "[":
            return self._class()
        if char == "\\":
            return self._escape()
        self._at += 1
        if char in "()":
            return self._group(char)
        if char in "{}]?*+":
            raise PatternError(f"a lone {char}")
        return char if char == "|" else self._plain.get(char) or regex.escape(char)

    def _group(self, char: str) -> str:
        if char == ")":
            if not self._open:
                raise PatternError("a group is not opened")
            self._closed.add(self._open.pop())
            return ")"
        if self._pattern.startswith("?:", self._at):
            self._at += 2
            self._open.append(0)
            return "(?:"
        self._groups += 1
        self._open.append(self._groups)
        return "("

    def _escape(self) -> str:
        """An escape outside of a class: flag `i` does not apply to a category, and a digit is a back-reference."""
        follows = self._pattern[self._at + 1 : self._at + 2]
        if not follows.isdecimal():
            one, is_single = self._one_escape()
            return one if is_single else f"(?-i:{one})"
        return self._back_reference()

    def _back_reference(self) -> str:
        r"""`\N`, with as many digits as make the number of an earlier group; a group without a match is empty."""
        digits = _REFERENCE.match(self._pattern, self._at + 1)
        text = digits[0] if digits else ""
        while len(text) > 1 and int(text) > self._groups:
            text = text[:-1]
        if not text or int(text) not in self._closed or text == "0":
            raise PatternError("a reference to no group")
        self._at += 1 + len(text)
        return rf"(?:(?({text})\g<{text}>|))"

    def _one_escape(self) -> tuple[str, bool]:
        """The translated escape at this place, and whether it stands for a single character."""
        self._at += 1
        if category := _CATEGORY.match(self._pattern, self._at):
            self._at = category.end()
            return _category(category[1], category[2]), False
        char = self._pattern[self._at : self._at + 1]
        self._at += 1
        if char in _CLASSES:
            return _CLASSES[char], False
        if char in _CONTROLS:
            return _CONTROLS[char], True
        if char and char in _PUNCTUATION:
            return f"\\{char}", True
        raise PatternError(f"no such escape: \\{char}")

    def _class(self) -> str:
        """A character class: `[`, perhaps `^`, members and ranges, perhaps `-[another]`, `]`."""
        pattern = self._pattern
        self._at += 1
        negated = pattern.startswith("^", self._at)
        self._at += negated
        members: list[str] = []
        while not pattern.startswith("]", self._at):
            if members and pattern.startswith("-[", self._at):
                self._at += 1
                other = self._class()
                if not pattern.startswith("]", self._at):
                    raise PatternError("a subtraction ends its class")
                self._at += 1
                return f"[[{'^' if negated else ''}{''.join(members)}]--{other}]"
            members.append(self._member())
        self._at += 1
        if not members:
            raise PatternError("an empty class")
        return f"[{'^' if negated else ''}{''.join(members)}]"

    def _member(self) -> str:
        """A character, a range or an escape for several characters."""
        pattern = self._pattern
        first, is_single = self._class_char()
        ranged = pattern.startswith("-", self._at) and not pattern.startswith(("-]", "-["), self._at)
        if not is_single or not ranged:
            return first
        self._at += 1
        last, is_single = self._class_char()
        if not is_single:
            raise PatternError("a range ends in a character")
        return f"{first}-{last}"

    def _class_char(self) -> tuple[str, bool]:
        char = self._pattern[self._at : self._at + 1]
        if char == "\\":
            return self._one_escape()
        if char in ("", "["):
            raise PatternError("a class is not closed")
        self._at += 1
        return regex.escape(char, special_only=False), True


def _category(letter: str, name: str) -> str:
    if not name.startswith("Is"):
        return rf"\{letter}{{{name}}}"
    block = _BLOCKS.get(name[2:], name[2:])
    return rf"\{letter}{{Block={block}}}"
