"""Texts with variables that are bound to terms before they are carried out: prepared updates, forced bindings.

A bound variable is a constant of the text, as if the term had been written in its place; a term is written as one term
whatever characters it has, so no value can change the shape of the request. Values of the same shapes need no new
reading: they go straight into the places of their variables.
"""

from collections.abc import Mapping
from typing import Generic, TypeAlias, TypeVar

from msgspec import Struct

from tidings.model.errors import BadRequest, SparqlSyntaxError
from tidings.model.terms import Term
from tidings.sparql.algebra import Dataset
from tidings.sparql.parser.tokens import TOKENS, replace_codepoint_escapes
from tidings.sparql.prepared import Parameters, Templates

T = TypeVar("T")
Shape: TypeAlias = str
_SAMPLE = "<urn:tidings:sample>"
_MOST_SHAPES = 64


class _Fitted(Struct, Generic[T], frozen=True):
    """What was made of the text for values of certain shapes: the constants, and the places of the variables."""

    made: T
    constants: Parameters
    places: tuple[tuple[int, str], ...]


class Blanks:
    """A text cut at its variables, to be filled in."""

    __slots__ = ("_pieces", "names", "starts", "variables")

    def __init__(self, text: str) -> None:
        self._pieces: list[str] = []
        self.names: list[str] = []
        """Every occurrence of a variable."""
        self.starts: list[int] = []
        """Which token each of them is."""
        self._cut(replace_codepoint_escapes(text))
        self.variables = tuple(dict.fromkeys(self.names))

    def _cut(self, text: str) -> None:
        end = 0
        for number, token in enumerate(TOKENS.finditer(text)):
            if token[1][:1] in {"?", "$"} and len(token[1]) > 1:
                self._pieces.append(text[end : token.start(1)])
                self.names.append(token[1][1:])
                self.starts.append(number)
                end = token.end(1)
        self._pieces.append(text[end:])

    def check(self, bindings: Mapping[str, Term]) -> None:
        """Raise BadRequest for variables that are not there."""
        if unknown := bindings.keys() - set(self.variables):
            known = ", ".join(f"?{name}" for name in self.variables) or "none"
            raise BadRequest(f"the text has no variable ?{min(unknown)}; it has {known}")

    def filled(self, bindings: Mapping[str, Term]) -> str:
        """The text with terms in the places of some variables."""
        parts = [self._pieces[0]]
        for name, piece in zip(self.names, self._pieces[1:], strict=True):
            term = bindings.get(name)
            parts.append(f"?{name}" if term is None else f" {term} ")
            parts.append(piece)
        return "".join(parts)


class Bindable(Generic[T]):
    """A text whose variables can be bound."""

    __slots__ = ("_base", "_blanks", "_dataset", "_fitted", "_templates", "variables")

    def __init__(self, templates: Templates[T], text: str, base: str | None, dataset: Dataset | None) -> None:
        self._templates = templates
        self._base = base
        self._dataset = dataset
        self._blanks = Blanks(text)
        self.variables = self._blanks.variables
        self._fitted: dict[tuple[tuple[str, Shape], ...], _Fitted[T] | None] = {}
        self._check(text)

    def _check(self, text: str) -> None:
        """A text that cannot be read as it is may need its variables bound: `INSERT DATA { :a :b ?c }`."""
        try:
            self._templates.find(text, self._base, self._dataset)
        except SparqlSyntaxError as error:
            try:
                sample = self._blanks.filled(dict.fromkeys(self.variables, _SAMPLE))
                self._templates.find(sample, self._base, self._dataset)
            except SparqlSyntaxError:
                raise error from None

    def bind(self, bindings: Mapping[str, Term]) -> tuple[T, Parameters]:
        """The request with these variables bound, ready to be carried out."""
        shapes = tuple([(name, _shape(term)) for name, term in bindings.items()])
        if shapes not in self._fitted:
            self._fit(shapes, bindings)
        fitted = self._fitted[shapes]
        if fitted is None:
            return self._templates.prepare(self._blanks.filled(bindings), self._base, self._dataset)
        values = list(fitted.constants)
        for number, name in fitted.places:
            values[number] = bindings[name]
        return fitted.made, tuple(values)

    def _fit(self, shapes: tuple[tuple[str, Shape], ...], bindings: Mapping[str, Term]) -> None:
        self._blanks.check(bindings)
        template, constants = self._templates.find(self._blanks.filled(bindings), self._base, self._dataset)
        number_of = {index: number for number, (index, _) in enumerate(template.slots)}
        places: list[tuple[int, str]] = []
        shift = 0
        direct = True
        for start, name in zip(self._blanks.starts, self._blanks.names, strict=True):
            if name not in bindings:
                continue
            number = number_of.get(start + shift)
            if number is None:
                direct = False  # here the term is part of the text's shape, as a predicate is
                break
            places.append((number, name))
            shift += _width(bindings[name]) - 1
        if len(self._fitted) >= _MOST_SHAPES:
            del self._fitted[next(iter(self._fitted))]
        self._fitted[shapes] = _Fitted(template.made, constants, tuple(places)) if direct else None


def _shape(term: Term) -> Shape:
    """What a term has in common with those that may stand in the same template: all but its characters."""
    if term[0] == '"':
        return term[term.rindex('"') :]
    return term[0]


def _width(term: Term) -> int:
    """The number of tokens that a term is written with."""
    last = term[-1]
    return 1 if term[0] != '"' or last == '"' else 3 if last == ">" else 2
