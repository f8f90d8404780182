"""Prepared requests: of texts that differ only in their constants, only the first is parsed.

Applications send the same few texts for ever, with another lamp or another value each time: texts of the same *kind*.
The parser lifts the constants out of the first text of a kind (`parser.slots`), and the template keeps the result. For
the next ones, comparing tokens and reading constants is a quarter of the work of parsing. For a kind that comes often,
a regular expression, its *wording*, finds the constants in a fifth of the time that tokenizing takes.
"""

from collections.abc import Callable
from operator import itemgetter
from typing import Any, Generic, TypeAlias, TypeVar

from tidings.model.terms import Term
from tidings.sparql.algebra import Dataset
from tidings.sparql.nesting import followed
from tidings.sparql.parser.cursor import Cursor
from tidings.sparql.parser.slots import Slot
from tidings.sparql.parser.tokens import replace_codepoint_escapes, tokenize
from tidings.sparql.wording import Wording, wording

T = TypeVar("T")
Parameters: TypeAlias = tuple[Term, ...]

_PER_LENGTH = 16
"""How many kinds with the same number of tokens are kept."""

_LONGEST = 20_000
"""Tokens of the longest text whose kind is kept: a text that comes only once would only take memory."""

_LENGTHS = 64
"""For how many different numbers of tokens kinds are kept."""

OFTEN = 8
"""After so many texts of a kind, its wording is compiled, which takes as long as reading some hundred texts."""

_WORDED = 4
"""How many kinds, the most recent ones, are recognized by their wording."""


class Template(Generic[T]):
    """The first text of a kind, with its constants lifted out, and what `make` returned for it."""

    __slots__ = ("_base", "_dataset", "_readers", "_rest", "_rest_of", "_seen", "_slots", "_wording", "length", "made")

    def __init__(
        self, tokens: list[str], slots: list[Slot], base: str | None, dataset: Dataset | None, made: T
    ) -> None:
        self.length = len(tokens)
        lifted = {slot.index for slot in slots}
        self._rest_of: Callable[[list[str]], Any] = itemgetter(*(i for i in range(len(tokens)) if i not in lifted))
        self._rest = self._rest_of(tokens)
        self._slots = [(slot.index, slot.read) for slot in slots]
        self._readers: list[tuple[int, Callable[[str], Term | None]]] = []
        """For each constant, by number: its position among the groups of the wording, and how to read it."""
        self._wording: Wording | None = None
        self._seen = 0
        self._base = base
        self._dataset = dataset
        self.made = made

    def lifted_tokens(self) -> list[int]:
        """The indices of the tokens that are constants, in the order of the constants' numbers."""
        return [index for index, _ in self._slots]

    def parameters(self, tokens: list[str], base: str | None, dataset: Dataset | None) -> Parameters | None:
        """The constants of a text of this kind, by number; None if it is of another kind."""
        if self._rest_of(tokens) != self._rest or self._base != base or self._dataset != dataset:
            return None
        found = tuple([read(tokens[index]) for index, read in self._slots])
        return None if None in found else found  # type: ignore[return-value]  # no None is left

    def recognized(self, text: str, base: str | None, dataset: Dataset | None) -> Parameters | None:
        """The constants of a text that has the wording of this kind; None if it has not."""
        assert self._wording is not None
        match = self._wording.fullmatch(text)
        if match is None or self._base != base or self._dataset != dataset:
            return None
        tokens = match.groups()
        found = tuple([read(tokens[place]) for place, read in self._readers])
        return None if None in found else found  # type: ignore[return-value]  # no None is left

    def is_worded(self, text: str) -> bool:
        """Count one more text of this kind; whether the kind has a wording now."""
        self._seen += 1
        if self._seen == OFTEN:
            self._wording = wording(text, (index for index, _ in self._slots))
            places = {index: place for place, index in enumerate(sorted(index for index, _ in self._slots))}
            self._readers = [(places[index], read) for index, read in self._slots]
        return self._wording is not None


class Templates(Generic[T]):
    """The templates of recent kinds of text. `make` gets a cursor that lifts constants, and parses the text."""

    __slots__ = ("_by_length", "_make", "_worded", "hits", "misses")

    def __init__(self, make: Callable[[Cursor, Dataset | None], T]) -> None:
        self._make = make
        self._by_length: dict[int, list[Template[T]]] = {}
        self._worded: list[Template[T]] = []
        """The most recent kinds that have a wording, the last one first."""
        self.hits = 0
        self.misses = 0

    def prepare(self, text: str, base: str | None = None, dataset: Dataset | None = None) -> tuple[T, Parameters]:
        """What `make` returned for texts of this kind, and the constants of this text."""
        template, parameters = self.find(text, base, dataset)
        return template.made, parameters

    def find(self, text: str, base: str | None, dataset: Dataset | None) -> tuple[Template[T], Parameters]:
        """The template of texts of this kind, and the constants of this one."""
        worded = self._worded
        for number, template in enumerate(worded):
            parameters = template.recognized(text, base, dataset)
            if parameters is not None:
                self.hits += 1
                if number:
                    worded.insert(0, worded.pop(number))
                return template, parameters
        tokens = tokenize(replace_codepoint_escapes(text))
        known = self._by_length.get(len(tokens))
        if known is not None:
            for number, template in enumerate(known):
                parameters = template.parameters(tokens, base, dataset)
                if parameters is not None:
                    self.hits += 1
                    if number:
                        known.insert(0, known.pop(number))
                    if template.is_worded(text) and template not in worded:
                        worded.insert(0, template)
                        del worded[_WORDED:]
                    return template, parameters
        self.misses += 1
        template, parameters = self.read(text, base, dataset)
        self.keep(template)
        return template, parameters

    def read(self, text: str, base: str | None, dataset: Dataset | None) -> tuple[Template[T], Parameters]:
        """Parse a text as the first of a new kind. It neither looks up nor keeps templates, so a fork may do it."""
        tokens = tokenize(replace_codepoint_escapes(text))
        cursor = Cursor(text, base)
        cursor.lifted = []
        with followed():
            made = self._make(cursor, dataset)
        template = Template(tokens, cursor.lifted, base, dataset, made)
        parameters = template.parameters(tokens, base, dataset)
        if parameters is None:
            raise AssertionError("a text is of its own kind")
        return template, parameters

    def keep(self, template: Template[T]) -> None:
        """Keep a template for the next texts of its kind."""
        if template.length > _LONGEST:
            return
        known = self._by_length.setdefault(template.length, [])
        known.insert(0, template)
        del known[_PER_LENGTH:]
        if len(self._by_length) > _LENGTHS:
            del self._by_length[next(iter(self._by_length))]
