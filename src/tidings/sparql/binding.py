"""Request texts whose variables are bound to terms before they are executed: prepared updates, forced bindings.

A bound variable is a constant of the text, as if the term had been written in its place. Whatever characters a term
has, it is written as one term, so no value can change the structure of the request. For values of the same shapes, the
text is not parsed again: the values become parameters of its template.
"""

from collections.abc import Iterator, Mapping
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


class _Direct(Struct, Generic[T], frozen=True):
    """The parsed text for terms of certain shapes, and which parameters the terms replace."""

    made: T
    constants: Parameters
    places: tuple[tuple[int, str], ...]
    """The numbers of the constants that are bound variables, with the variables."""

    def bind(self, bindings: Mapping[str, Term]) -> tuple[T, Parameters]:
        values = list(self.constants)
        for number, name in self.places:
            values[number] = bindings[name]
        return self.made, tuple(values)


class FilledText(Struct, frozen=True):
    """A text with terms in the places of variables, and the character offsets at which the terms start."""

    text: str
    starts: tuple[tuple[int, str], ...]

    def tokens(self) -> Iterator[tuple[int, str]]:
        """The number of the token with which each term starts; a literal may consist of several tokens."""
        number_at = {token.start(1): number for number, token in enumerate(TOKENS.finditer(self.text))}
        return ((number_at[start], name) for start, name in self.starts)


class FillableText:
    """A text cut at its variables, ready to be filled with terms."""

    __slots__ = ("_first", "_pieces", "variables")

    def __init__(self, text: str) -> None:
        text = replace_codepoint_escapes(text)
        found = [token for token in TOKENS.finditer(text) if token[1][:1] in {"?", "$"} and len(token[1]) > 1]
        ends = [*(token.start(1) for token in found), len(text)]
        self._first = text[: ends[0]]
        self._pieces = [(token[1][1:], text[token.end(1) : end]) for token, end in zip(found, ends[1:], strict=True)]
        """Every occurrence of a variable, and what follows it."""
        self.variables = tuple(dict.fromkeys(name for name, _ in self._pieces))

    def check(self, bindings: Mapping[str, Term]) -> None:
        """Raise BadRequest if a binding names a variable that the text does not have."""
        if unknown := bindings.keys() - set(self.variables):
            known = ", ".join(f"?{name}" for name in self.variables) or "none"
            raise BadRequest(f"the text has no variable ?{min(unknown)}; it has {known}")

    def fill(self, bindings: Mapping[str, Term]) -> FilledText:
        """The text with terms in the places of some variables."""
        parts = [self._first]
        length = len(self._first)
        starts: list[tuple[int, str]] = []
        for name, piece in self._pieces:
            term = bindings.get(name)
            written = f"?{name}" if term is None else f" {term} "
            if term is not None:
                starts.append((length + 1, name))
            parts += (written, piece)
            length += len(written) + len(piece)
        return FilledText("".join(parts), tuple(starts))


class Bindable(Generic[T]):
    """A text whose variables can be bound."""

    __slots__ = ("_base", "_dataset", "_direct", "_templates", "_text", "variables")

    def __init__(self, templates: Templates[T], text: str, base: str | None, dataset: Dataset | None) -> None:
        self._templates = templates
        self._base = base
        self._dataset = dataset
        self._text = FillableText(text)
        self.variables = self._text.variables
        self._direct: dict[tuple[tuple[str, Shape], ...], _Direct[T] | None] = {}
        """By the shapes of the bound terms; None for shapes with which the text has to be parsed each time."""
        self._check(text)

    def _check(self, text: str) -> None:
        """Check the syntax. A text may be valid only once its variables are bound: `INSERT DATA { :a :b ?c }`."""
        try:
            self._templates.find(text, self._base, self._dataset)
        except SparqlSyntaxError as error:
            try:
                sample = self._text.fill(dict.fromkeys(self.variables, _SAMPLE)).text
                self._templates.find(sample, self._base, self._dataset)
            except SparqlSyntaxError:
                raise error from None

    def bind(self, bindings: Mapping[str, Term]) -> tuple[T, Parameters]:
        """The parsed request and its parameters, with these variables bound."""
        shapes = tuple([(name, _shape(term)) for name, term in bindings.items()])
        if shapes not in self._direct:
            self._learn(shapes, bindings)
        direct = self._direct[shapes]
        if direct is None:
            return self._templates.prepare(self._text.fill(bindings).text, self._base, self._dataset)
        return direct.bind(bindings)

    def _learn(self, shapes: tuple[tuple[str, Shape], ...], bindings: Mapping[str, Term]) -> None:
        self._text.check(bindings)
        filled = self._text.fill(bindings)
        template, constants = self._templates.find(filled.text, self._base, self._dataset)
        number_of = {token: number for number, token in enumerate(template.lifted_tokens())}
        places = [(number_of.get(token), name) for token, name in filled.tokens()]
        direct = tuple((number, name) for number, name in places if number is not None)
        if len(self._direct) >= _MOST_SHAPES:
            del self._direct[next(iter(self._direct))]
        # A term that the parser does not lift, such as a predicate, makes another kind of text, which has to be parsed.
        self._direct[shapes] = _Direct(template.made, constants, direct) if len(direct) == len(places) else None


def _shape(term: Term) -> Shape:
    """The kind of a term, without its characters: terms of one shape fit the same parameter of a template."""
    if term[0] == '"':
        return term[term.rindex('"') :]
    return term[0]
