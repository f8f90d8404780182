"""RDF terms for applications: strings with the type of the term, and their Python values.

`to_term` and `from_term` convert to the N-Triples strings of `tidings.model.terms` and back, without loss. Terms are
valid and immutable. Two terms are equal if they are the same term. A plain string equals a term with the same text, so
`row["name"] == "Alice"` works as expected.
"""

from collections.abc import Mapping
from typing import Any, NoReturn, TypeAlias

from tidings.client import values
from tidings.client.texts import Template
from tidings.client.values import Native
from tidings.model import terms
from tidings.model.formats.grammar import BLANK_LABEL, checked_iri, checked_literal
from tidings.model.formats.results.json import term_of_value, term_value
from tidings.model.terms import RDF_LANG_STRING, XSD_STRING, Term


class _Text(str):
    """The base of the three kinds of terms: a string that equals only strings of its own kind, and plain ones."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Text) and type(other) is not type(self):
            return False
        return str.__eq__(self, other) if isinstance(other, str) else NotImplemented

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    def __hash__(self) -> int:
        return str.__hash__(self)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a term never changes: {name} cannot be set")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class IRI(_Text):
    """An IRI. Raises ValueError for characters that an IRI cannot have."""

    __slots__ = ()

    def __new__(cls, text: str) -> "IRI":
        checked_iri(text)
        return super().__new__(cls, text)


class BNode(_Text):
    """A blank node, by its label without the `_:`. Raises ValueError for an invalid label."""

    __slots__ = ()

    def __new__(cls, label: str) -> "BNode":
        if not BLANK_LABEL.fullmatch(label):
            raise ValueError(f"not the label of a blank node: {label!r}")
        return super().__new__(cls, label)


class Literal(_Text):
    """A literal: its lexical form as a string, with a datatype; also with a language, if this is `rdf:langString`."""

    __slots__ = ("datatype", "language")
    datatype: IRI
    language: str | None

    def __new__(cls, lexical: str, datatype: str | None = None, language: str | None = None) -> "Literal":
        if language is not None and datatype not in {None, RDF_LANG_STRING}:
            raise ValueError("a literal has a datatype or a language, not both")
        if language == "":
            raise ValueError("not a language tag: ''")
        checked_literal(lexical, datatype, language)
        self = super().__new__(cls, lexical)
        object.__setattr__(self, "datatype", IRI(RDF_LANG_STRING if language else datatype or XSD_STRING))
        object.__setattr__(self, "language", language)
        return self

    @property
    def value(self) -> Native:
        """The Python value; the lexical form if Python has no such value, or the literal is ill-typed."""
        return str(self) if self.language else values.read(str(self), str(self.datatype))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Literal):
            return _Text.__eq__(self, other)
        # Language tags are equal regardless of case (RDF 1.1 Concepts, 3.3).
        same_tag = (self.language or "").lower() == (other.language or "").lower()
        return str.__eq__(self, other) and self.datatype == other.datatype and same_tag

    __hash__ = _Text.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return Literal, (str(self), None if self.language else str(self.datatype), self.language)

    def __repr__(self) -> str:
        if self.language:
            return f"Literal({str(self)!r}, language={self.language!r})"
        if self.datatype == XSD_STRING:
            return f"Literal({str(self)!r})"
        return f"Literal({str(self)!r}, datatype={str(self.datatype)!r})"


RdfTerm: TypeAlias = IRI | BNode | Literal


def to_term(value: RdfTerm | Native) -> Term:
    """The N-Triples string of a term, or of a Python value: a `str` is a plain literal, an `int` an `xsd:integer`, and
    so on.

    Raises ValueError for values that XSD cannot represent, TypeError for types that RDF does not have.
    """
    match value:
        case IRI():
            return terms.iri(str(value))
        case BNode():
            return terms.blank(str(value))
        case Literal(language=None):
            return terms.literal(str(value), str(value.datatype))
        case Literal(language=str() as language):
            return terms.lang_literal(str(value), language)
        case str():
            return checked_literal(str(value), None, None)
        case _:
            return terms.literal(*values.write(value))


def from_term(term: Term) -> RdfTerm:
    """The inverse of `to_term`: an IRI, a BNode or a Literal."""
    if terms.is_iri(term):
        return IRI(term[1:-1])
    if terms.is_blank(term):
        return BNode(term[2:])
    lexical, datatype, language = terms.split_literal(term)
    return Literal(lexical, language=language) if language else Literal(lexical, datatype)


def from_json(value: Mapping[str, Any]) -> RdfTerm:
    """The term of a JSON object as in SPARQL results, `{"type": "uri", "value": …}`. Raises ResultsSyntaxError."""
    return from_term(term_of_value(value))


def to_json(value: RdfTerm | Native) -> dict[str, str]:
    """A term, or a Python value, as a JSON object as in SPARQL results."""
    return term_value(to_term(value))


def bound(text: str, bindings: Mapping[str, RdfTerm | Native]) -> str:
    """A SPARQL text with values in the places of variables. Raises BadRequest for variables that it cannot bind."""
    template = Template(text)
    given = {name: to_term(value) for name, value in bindings.items()}
    template.check(given)
    return template.filled(given)
