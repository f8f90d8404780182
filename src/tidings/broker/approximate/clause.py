"""The text of an approximate subscription, in the place of a query:

    PREFIX : <http://city.example/>
    MATCHING ?garage {free parking~ > 0} WHERE { ?garage a :Garage ; :name ?name }

The words are in the notation of subscriptions, or JSON. The pattern after WHERE must hold exactly of the event's
subject; WHERE and the variable are optional. For the registry, the log, the rights and the outboxes, a query with the
same columns that never has an answer stands for such a subscription; it has the text as a comment at its end.
"""

import re
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from tidings.matching.language.bounds import Bounds
from tidings.matching.language.documents import subscription_of
from tidings.matching.language.notation import read_subscription, write_subscription
from tidings.matching.language.values import Subscription
from tidings.model.errors import BadRequest
from tidings.sparql.algebra import Select
from tidings.sparql.parser import parse_query

COLUMNS = ("event", "degree", "mapping")
_PROLOGUE = r"(?:\s+|PREFIX\s+[^\s<]*:\s*<[^<>\s]*>|BASE\s*<[^<>\s]*>|\#[^\n]*(?:\n|$))*"
_BEGINNING = re.compile(rf"({_PROLOGUE})MATCHING\b\s*(?:\?(\w+)\s*)?(?=\{{)", re.IGNORECASE)
_WHERE = re.compile(r"\s*WHERE\s*(?=\{)", re.IGNORECASE)
_STANDS_FOR = "#MATCHING "
_NOTHING = "<urn:tidings:matching:nothing>"
_LONGEST = 1 << 15
"""The longest text, in characters."""


class Clause(Struct, frozen=True):
    """What an approximate subscription asks for."""

    words: Subscription
    subject: str
    """The variable of the event's subject."""
    columns: tuple[str, ...]
    pattern: str | None
    """A query for the pattern after WHERE; the subject of the event is filled in for `{}`."""


def is_approximate(text: str) -> bool:
    """Whether a text is that of an approximate subscription, as its client wrote it."""
    return "MATCHING" in text[:_LONGEST].upper() and _BEGINNING.match(text) is not None


def query_for(text: str, bounds: Bounds, base: str | None = None) -> str:
    """The query that stands for an approximate subscription. Raises what is wrong with its text."""
    clause = read_clause(text, bounds, base)
    columns = " ".join(f"?{name}" for name in clause.columns)
    patterns = " . ".join(
        f"{_NOTHING} <urn:tidings:matching:{place}> ?{name}" for place, name in enumerate(clause.columns)
    )
    return f"SELECT {columns} WHERE {{ {patterns} }} {_STANDS_FOR}{msgspec.json.encode(text).decode()}"


def text_of(query: str) -> str | None:
    """The text of the approximate subscription that a query stands for; None for any other query."""
    _, found, quoted = query.partition(f"}} {_STANDS_FOR}")
    if not found or not query.startswith("SELECT ?"):
        return None
    try:
        text = msgspec.json.decode(quoted, type=str)
    except msgspec.DecodeError:
        return None
    return text if is_approximate(text) else None


def read_clause(text: str, bounds: Bounds, base: str | None = None) -> Clause:
    """Parse the text. Raises SyntaxFault, MatchingDocumentError, RequestTooComplex, BadRequest."""
    begun = _BEGINNING.match(text)
    if begun is None or len(text) > _LONGEST:
        raise BadRequest(f"MATCHING {{…}} WHERE {{…}}, of at most {_LONGEST:,} characters, is expected here")
    prologue, named = begun.group(1), begun.group(2)
    end = _closing(text, begun.end())
    words = _words(text[begun.end() : end], bounds)
    rest = text[end:]
    where = _WHERE.match(rest)
    if where is None:
        if rest.strip():
            raise BadRequest(f"after the words comes WHERE and a pattern, or nothing, and not {rest.strip()[:40]!r}")
        subject = named or "subject"
        return Clause(words, subject, _columns((subject,)), None)
    return _with_pattern(words, named, prologue, rest[where.end() :], base)


def _with_pattern(words: Subscription, named: str | None, prologue: str, pattern: str, base: str | None) -> Clause:
    """A clause with a pattern, whose variables are columns. The first is the subject, unless one is named."""
    query = parse_query(f"{prologue} SELECT * WHERE {pattern}", base)
    assert isinstance(query, Select)
    variables = tuple(name[1:] for name in query.variables)
    if not variables:
        raise BadRequest("the pattern has no variable for the subject of an event")
    subject = named or variables[0]
    if subject not in variables:
        raise BadRequest(f"the pattern does not have the variable ?{subject}")
    columns = (subject, *(name for name in variables if name != subject))
    chosen = " ".join(f"?{name}" for name in columns)
    inner = pattern.strip()[1:]
    escaped = inner.replace("{", "{{").replace("}", "}}")
    head = prologue.replace("{", "{{").replace("}", "}}")
    return Clause(
        words, subject, _columns(columns), f"{head} SELECT {chosen} WHERE {{{{ FILTER(?{subject} = {{}}) {escaped}"
    )


def _columns(variables: tuple[str, ...]) -> tuple[str, ...]:
    taken = set(variables) & set(COLUMNS)
    if taken:
        raise BadRequest(f"?{min(taken)} is a column of every match; give the variable another name")
    return (*variables, *COLUMNS)


def _words(text: str, bounds: Bounds) -> Subscription:
    try:
        document: Any = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return read_subscription(text, bounds=bounds)
    return subscription_of(document, bounds)


def _closing(text: str, start: int) -> int:
    """The place after the brace that closes the one at `start`; braces in double quotes do not count."""
    depth, quoted, place = 0, False, start
    while place < len(text):
        sign = text[place]
        if quoted and sign == "\\":
            place += 1
        elif sign == '"':
            quoted = not quoted
        elif not quoted and sign in "{}":
            depth += 1 if sign == "{" else -1
            if depth == 0:
                return place + 1
        place += 1
    return len(text)


@lru_cache(1_024)
def shown(words: Subscription) -> str:
    return write_subscription(words)
