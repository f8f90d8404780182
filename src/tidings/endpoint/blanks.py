"""Translates blank nodes on the way to an endpoint and back: SPARQL cannot name them, so they become IRIs there.

ours    _:p1n7          <->  <urn:tidings:blank:p1n7>     shown as a blank node again
theirs  _:endpoint.b0    ->  the name that the dialect has for it, if any
"""

from collections.abc import Callable

from tidings.model.errors import EndpointRefused
from tidings.model.terms import Quad, Term

_IRI = "<urn:tidings:blank:"
_THEIRS = "_:endpoint."
Address = Callable[[str], Term | None]


def outgoing(term: Term, address: Address) -> Term:
    """A term as requests write it. Raises EndpointRefused for a blank node of the endpoint that has no name there."""
    if term[:1] != "_":
        return term
    if not term.startswith(_THEIRS):
        return f"{_IRI}{term[2:]}>"
    named = address(term[len(_THEIRS) :])
    if named is None:
        raise EndpointRefused(f"the endpoint has no name for its blank node {term}, so it cannot be written about")
    return named


def incoming(term: Term) -> Term:
    """A term of an answer, as the broker shows it."""
    if term.startswith(_IRI):
        return f"_:{term[len(_IRI) : -1]}"
    return _THEIRS + term[2:] if term[:1] == "_" else term


def is_theirs(term: Term) -> bool:
    """Whether a term is a blank node that the endpoint made."""
    return term.startswith(_THEIRS)


def is_nameless(graph: Term) -> bool:
    """Whether a graph is named by a blank node, so that no request can name it. The broker ignores such graphs."""
    return graph[:1] == "_"


def can_be_named(quad: Quad, address: Address) -> bool:
    """Whether requests can name the terms of a quad. If not, no request of the broker has changed it either."""
    s, _, o, _ = quad
    if s[0] != "_" and o[0] != "_":
        return True
    return all(not is_theirs(term) or address(term[len(_THEIRS) :]) is not None for term in (s, o))
