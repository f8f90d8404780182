"""Forced bindings: declarations of variables in a profile, and the terms that values become by them.

The declaration decides. A `uri` is an absolute IRI, or a prefixed name of the profile's namespaces; a `bnode` is a
label; a `literal` has the declared datatype or language, or, without these, the datatype of the Python value. A value
that cannot be such a term raises ValueError.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Literal as Choice
from typing import TypeAlias, get_args

from tidings.client.jsap.mistakes import Mistakes, below, shown
from tidings.client.terms import IRI, BNode, Literal, RdfTerm, to_term
from tidings.client.values import Native
from tidings.model.formats.grammar import ABSOLUTE_IRI, BLANK_LABEL, IRI_REFERENCE, LANGUAGE, checked_literal
from tidings.model.terms import RDF_LANG_STRING, XSD, Term, split_literal
from tidings.sparql.values.decode import PARSERS

BindingType: TypeAlias = Choice["literal", "uri", "bnode"]
Namespaces: TypeAlias = Mapping[str, str]
Bindable: TypeAlias = RdfTerm | Native

_MEMBERS = ("type", "value", "datatype", "language")


class Unfit(ValueError):
    """The value cannot be a term as declared; the message tells which values can."""


@dataclass(frozen=True, slots=True)
class ForcedBinding:
    """The declaration of a variable; `default` is the term if the caller gives no value."""

    type: BindingType
    datatype: str | None = None
    language: str | None = None
    default: Term | None = None

    def term(self, value: Bindable, namespaces: Namespaces) -> Term:
        match self.type:
            case "uri":
                return _uri(value, namespaces)
            case "bnode":
                return _bnode(value)
            case "literal":
                return _literal(value, self.datatype, self.language)


def expanded(text: str, namespaces: Namespaces) -> str:
    """The absolute IRI of a prefixed name of these namespaces, or of an absolute IRI."""
    prefix, colon, local = text.partition(":")
    iri = namespaces[prefix] + local if colon and prefix in namespaces and not local.startswith("//") else text
    if not ABSOLUTE_IRI.fullmatch(iri):
        if IRI_REFERENCE.fullmatch(iri):
            raise Unfit(f"must be an absolute IRI or a prefixed name of the namespaces, not {shown(text)}")
        raise Unfit(f"has characters that no IRI has: {shown(text)}")
    return iri


def free_term(value: Bindable) -> Term:
    """The term of a value for a variable without a declaration."""
    try:
        if isinstance(value, IRI | Literal):
            # Each broker would resolve a relative IRI in another way.
            expanded(value if isinstance(value, IRI) else value.datatype, {})
        return to_term(value)
    except TypeError as error:
        raise Unfit(f"must be a value of RDF, not {shown(value)}") from error


def _uri(value: Bindable, namespaces: Namespaces) -> Term:
    if isinstance(value, IRI):
        return f"<{expanded(value, {})}>"
    if not isinstance(value, str) or isinstance(value, Literal | BNode):
        raise Unfit(f"must be an IRI, not {_told(value)}")
    return f"<{expanded(value, namespaces)}>"


def _bnode(value: Bindable) -> Term:
    if not isinstance(value, str) or isinstance(value, Literal | IRI):
        raise Unfit(f"must be the label of a blank node, not {_told(value)}")
    label = str(value).removeprefix("_:")
    if not BLANK_LABEL.fullmatch(label):
        raise Unfit(f"must be the label of a blank node, not {shown(value)}")
    return f"_:{label}"


def _literal(value: Bindable, datatype: str | None, language: str | None) -> Term:
    if isinstance(value, IRI | BNode):
        raise Unfit(f"must be a literal, not {_told(value)}")
    if isinstance(value, Literal):
        return _fitting(value, datatype, language)
    if language is not None:
        if not isinstance(value, str):
            raise Unfit(f"must be a string, for the language {language}, not {_told(value)}")
        return checked_literal(value, None, language)
    if datatype is None:
        return free_term(value)
    lexical = _lexical(value, datatype)
    parse = PARSERS.get(datatype)
    if parse is not None and parse(lexical) is None:
        raise Unfit(f"must be a value of {_short(datatype)}, not {_told(value)}")
    return checked_literal(lexical, datatype, None)


def _fitting(value: Literal, datatype: str | None, language: str | None) -> Term:
    """The term of a literal with its own datatype and language, which must not contradict the declaration."""
    if language is not None and (value.language or "").lower() != language.lower():
        raise Unfit(f"must be in the language {language}, not {value!r}")
    if datatype is not None and value.datatype != datatype:
        raise Unfit(f"must be of the datatype {_short(datatype)}, not {value!r}")
    return free_term(value)


def _lexical(value: Bindable, datatype: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float) and datatype == f"{XSD}decimal":
        value = Decimal(repr(value))  # the decimal digits as Python prints them, not the exact binary fraction
    if isinstance(value, bytes) and datatype == f"{XSD}hexBinary":
        return value.hex().upper()
    return split_literal(free_term(value))[0]


def _short(datatype: str) -> str:
    return f"xsd:{datatype.removeprefix(XSD)}" if datatype.startswith(XSD) else f"<{datatype}>"


def _told(value: object) -> str:
    return repr(value) if isinstance(value, IRI | BNode | Literal) else shown(value)


# -- the declaration in the profile -----------------------------------------------------------------------------


def read_binding(value: object, path: str, namespaces: Namespaces, mistakes: Mistakes) -> ForcedBinding | None:
    """Read `{"type": …, "value"?: …, "datatype"?: …, "language"?: …}`; None if there is a mistake in it."""
    before = len(mistakes.found)
    if value is None:
        mistakes.add(path, 'must be an object such as {"type": "literal"}, not null')
    members = mistakes.members(value, path, _MEMBERS)
    datatype = mistakes.text(members.get("datatype"), below(path, "datatype"))
    language = mistakes.text(members.get("language"), below(path, "language"))
    type_ = members.get("type")
    if isinstance(value, dict):
        _check_type(type_, path, mistakes)
        _check_extras(type_, datatype, language, path, mistakes)
    if datatype is not None:
        datatype = _checked(partial(expanded, datatype, namespaces), below(path, "datatype"), mistakes)
    if datatype == RDF_LANG_STRING:
        mistakes.add(below(path, "datatype"), "rdf:langString is said by giving a language instead")
    if len(mistakes.found) > before or type_ is None:
        return None
    declared = ForcedBinding(type_, datatype, language)
    given = members.get("value")
    if given is None:
        return declared
    if isinstance(given, dict | list):
        mistakes.add(below(path, "value"), f"must be a string, a number, true or false, not {shown(given)}")
        return None
    default = _checked(partial(declared.term, given, namespaces), below(path, "value"), mistakes)
    return replace(declared, default=default)


def _check_type(type_: object, path: str, mistakes: Mistakes) -> None:
    if type_ is None:
        mistakes.add(path, "must have a type: literal, uri or bnode")
    elif type_ not in get_args(BindingType):
        mistakes.add(below(path, "type"), f"must be literal, uri or bnode, not {shown(type_)}")


def _check_extras(type_: object, datatype: str | None, language: str | None, path: str, mistakes: Mistakes) -> None:
    for name, given in (("datatype", datatype), ("language", language)):
        if given is not None and type_ in {"uri", "bnode"}:
            mistakes.add(below(path, name), f"is for literals, and this is a {type_}")
    if datatype is not None and language is not None:
        mistakes.add(below(path, "language"), "a literal has a datatype or a language, not both")
    if language is not None and not LANGUAGE.fullmatch(language):
        mistakes.add(below(path, "language"), f"must be a language tag such as en or pt-BR, not {shown(language)}")


def _checked(make: Callable[[], str], path: str, mistakes: Mistakes) -> str | None:
    try:
        return make()
    except ValueError as error:
        mistakes.add(path, str(error))
        return None
