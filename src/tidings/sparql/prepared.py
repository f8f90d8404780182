"""Prepared requests: texts that differ only in constants are parsed once, and whatever was made of them is kept.

Applications send the same few texts for ever, with another lamp or another value each time. The first of its kind is
parsed with its constants lifted out (`parser.slots`); the next ones need only their tokens compared and their
constants read, which is a quarter of the work of parsing them. A kind that comes often is known by its wording: one
match finds the constants, in a fifth of the time that it takes to find all tokens.
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
"""Kinds of text with the same number of tokens that are kept."""

_LONGEST = 20_000
"""Tokens of the longest text whose kind is kept: what comes once would only take memory."""

_LENGTHS = 64
"""Numbers of tokens for which any are kept."""

OFTEN = 8
"""Texts of a kind after which its wording is made: that takes as long as to read some hundred of them."""

_WORDED = 4
"""Kinds that are looked for by their wording: those that came last."""


class Template(Generic[T]):
    """One text with its constants lifted out, and what was made of it."""

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
        """For each constant, by number: its place among those of the text, and how it is read."""
        self._wording: Wording | None = None
        self._seen = 0
        self._base = base
        self._dataset = dataset
        self.made = made

    def lifted_tokens(self) -> list[int]:
        """Which tokens of a text its constants are, in the order of their numbers."""
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
        """Note that a text of this kind has come; whether its wording is known by now."""
        self._seen += 1
        if self._seen == OFTEN:
            self._wording = wording(text, (index for index, _ in self._slots))
            places = {index: place for place, index in enumerate(sorted(index for index, _ in self._slots))}
            self._readers = [(places[index], read) for index, read in self._slots]
        return self._wording is not None


class Templates(Generic[T]):
    """What was made of the kinds of text seen lately. `make` is given a cursor that lifts constants."""

    __slots__ = ("_by_length", "_make", "_worded", "hits", "misses")

    def __init__(self, make: Callable[[Cursor, Dataset | None], T]) -> None:
        self._make = make
        self._by_length: dict[int, list[Template[T]]] = {}
        self._worded: list[Template[T]] = []
        """Kinds that came lately and are known by their wording, the last one first."""
        self.hits = 0
        self.misses = 0

    def prepare(self, text: str, base: str | None = None, dataset: Dataset | None = None) -> tuple[T, Parameters]:
        """What was made of texts of this kind, and the constants of this one."""
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
        """A text as one of a new kind. Nothing is looked up or kept, so this may happen beside everything else."""
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
        """Have it found when the next text of its kind comes."""
        if template.length > _LONGEST:
            return
        known = self._by_length.setdefault(template.length, [])
        known.insert(0, template)
        del known[_PER_LENGTH:]
        if len(self._by_length) > _LENGTHS:
            del self._by_length[next(iter(self._by_length))]
