"""The paper's notation, read and written.

    {type~ = parking occupied event~, country = ireland~, free spaces~ > 0, temperature = [18, 25)}

A term ends before the next of `~ = < > , { }`; in double quotes it may contain these, with \\" and \\\\ for a quote and
a backslash. A numeral is a number. Events are written in the same way, with `=` only and without `~`.
"""

import re
from math import isfinite
from typing import NoReturn, assert_never

from tidings.matching.language.bounds import DEFAULT_BOUNDS, Bounds
from tidings.matching.language.errors import MatchingSyntaxError
from tidings.matching.language.values import (
    DEFAULTS,
    Between,
    Compares,
    Condition,
    Equals,
    Event,
    EventTuple,
    Operator,
    Parameters,
    Predicate,
    Subscription,
    Value,
)

_NUMERAL = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(_NUMERAL)
_RANGE = re.compile(rf"([\[(])\s*({_NUMERAL})\s*,\s*({_NUMERAL})\s*([\])])")
_BARE = re.compile(r'[^~=<>,{}"]+')
_QUOTED = re.compile(r'"((?:[^"\\]|\\["\\])*)"')
_OPERATOR = re.compile(r"<=|>=|=|<|>")
_SPACE = re.compile(r"\s*")
_PLAIN = re.compile(r'[^~=<>,{}"\\\[\]()\s](?:[^~=<>,{}"\\]*[^~=<>,{}"\\\s])?')


def read_subscription(text: str, parameters: Parameters = DEFAULTS, bounds: Bounds = DEFAULT_BOUNDS) -> Subscription:
    """Raises MatchingSyntaxError, RequestTooComplex."""
    return bounds.check_subscription(Subscription(_Reader(text, bounds.predicates).predicates(), parameters))


def read_event(text: str, bounds: Bounds = DEFAULT_BOUNDS) -> Event:
    """Raises MatchingSyntaxError, RequestTooComplex."""
    reader = _Reader(text, bounds.tuples)
    tuples = []
    for predicate, place in reader.placed():
        if predicate.approximate or not isinstance(predicate.condition, Equals):
            reader.fail("a tuple of an event has the form attribute = value", "attribute = value", place)
        tuples.append(EventTuple(predicate.attribute, predicate.condition.value))
    return bounds.check_event(Event(tuple(tuples)))


def number_of(value: Value) -> float | None:
    """The number that a value is, or that its text spells; None for other texts."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    return float(text) if len(text) < 64 and _NUMBER.fullmatch(text) else None


class _Reader:
    """Reads one text, once. After `most` predicates and one more, it stops reading: the text will be refused."""

    def __init__(self, text: str, most: int) -> None:
        self._text = text
        self._at = 0
        self._most = most

    def predicates(self) -> tuple[Predicate, ...]:
        return tuple(predicate for predicate, _ in self.placed())

    def placed(self) -> list[tuple[Predicate, int]]:
        """The predicates, each with the offset at which it begins."""
        found: list[tuple[Predicate, int]] = []
        self._expect("{")
        if not self._accept("}"):
            while True:
                self._skip()
                place = self._at
                found.append((self._predicate(), place))
                if len(found) > self._most:
                    return found
                if self._accept("}"):
                    break
                self._expect(",", "',' or '}'")
        self._skip()
        if self._at < len(self._text):
            self.fail("there is more after the closing brace", "the end")
        return found

    def _predicate(self) -> Predicate:
        attribute = self._term("an attribute")
        approximate = self._accept("~")
        self._skip()
        operator = _OPERATOR.match(self._text, self._at)
        if operator is None:
            self.fail("an operator is missing after the attribute", "'=', '<', '<=', '>' or '>='")
        self._at = operator.end()
        return Predicate(attribute, self._condition(operator.group()), approximate)

    def _condition(self, operator: str) -> Condition:
        self._skip()
        if operator != "=":
            return Compares(Operator(operator), self._bound())
        found = _RANGE.match(self._text, self._at)
        if found is not None:
            return self._range(found)
        value = self._value()
        return Equals(value, self._accept("~"))

    def _bound(self) -> float:
        found = _NUMBER.match(self._text, self._at)
        if found is None:
            self.fail("only numbers can be compared", "a number")
        self._at = found.end()
        self._skip()
        if self._text[self._at : self._at + 1] not in {",", "}", ""}:
            self.fail("a comparison ends with its number", "',' or '}'")
        if not isfinite(bound := float(found.group())):
            self.fail("the number is too large", "a number", found.start())
        return bound

    def _range(self, found: re.Match[str]) -> Between:
        low, high = float(found.group(2)), float(found.group(3))
        if not (isfinite(low) and isfinite(high)):
            self.fail("the number is too large", "a range of numbers")
        if low > high:
            self.fail("the range is empty: its low end is above its high end", "a low end, then a high end")
        self._at = found.end()
        return Between(low, high, found.group(1) == "(", found.group(4) == ")")

    def _value(self) -> Value:
        quoted = self._text[self._at : self._at + 1] == '"'
        text = self._term("a value")
        if quoted or not _NUMBER.fullmatch(text):
            return text
        if re.fullmatch(r"[+-]?\d+", text) and len(text) < 16:
            return int(text)
        return float(text) if isfinite(float(text)) else text

    def _term(self, what: str) -> str:
        self._skip()
        if self._text[self._at : self._at + 1] == '"':
            quoted = _QUOTED.match(self._text, self._at)
            if quoted is None:
                self.fail("the quote is not closed, or a backslash escapes something else", "a closing quote")
            self._at = quoted.end()
            return re.sub(r"\\(.)", r"\1", quoted.group(1))
        bare = _BARE.match(self._text, self._at)
        term = bare.group().strip() if bare else ""
        if bare is None or not term:
            self.fail(f"{what} is missing", what)
        self._at = bare.end()
        return term

    # -- characters ---------------------------------------------------------------------------------------------

    def _skip(self) -> None:
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at

    def _accept(self, sign: str) -> bool:
        self._skip()
        if not self._text.startswith(sign, self._at):
            return False
        self._at += len(sign)
        return True

    def _expect(self, sign: str, expected: str = "") -> None:
        if not self._accept(sign):
            self.fail(f"expected {expected or repr(sign)} here", expected or repr(sign))

    def fail(self, message: str, expected: str, place: int | None = None) -> NoReturn:
        before = self._text[: self._at if place is None else place]
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        raise MatchingSyntaxError(message, line=line, column=column, expected=expected, source=self._text)


# -- writing ----------------------------------------------------------------------------------------------------


def write_subscription(subscription: Subscription) -> str:
    return "{" + ", ".join(write_predicate(each) for each in subscription.predicates) + "}"


def write_event(event: Event) -> str:
    return "{" + ", ".join(f"{_write_term(each.attribute)} = {_write_value(each.value)}" for each in event.tuples) + "}"


def write_predicate(predicate: Predicate) -> str:
    attribute = _write_term(predicate.attribute) + ("~" if predicate.approximate_attribute else "")
    match predicate.condition:
        case Equals(value, approximate):
            return f"{attribute} = {_write_value(value)}{'~' if approximate else ''}"
        case Compares(operator, bound):
            return f"{attribute} {operator} {bound:.17g}"
        case Between(low, high, low_open, high_open):
            return f"{attribute} = {'(' if low_open else '['}{low:.17g}, {high:.17g}{')' if high_open else ']'}"
        case _:
            assert_never(predicate.condition)


def _write_value(value: Value) -> str:
    if isinstance(value, str):
        return _quoted(value) if _NUMBER.fullmatch(value) else _write_term(value)
    return str(value)


def _write_term(term: str) -> str:
    return term if _PLAIN.fullmatch(term) else _quoted(term)


def _quoted(term: str) -> str:
    return '"' + term.replace("\\", "\\\\").replace('"', '\\"') + '"'
