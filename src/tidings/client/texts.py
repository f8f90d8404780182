"""Binds variables in SPARQL texts: finds each occurrence of a variable, and puts terms in their places.

In most places, the term replaces the variable. Three places need more, so that a bound variable remains a column of the
answer, or a valid key:

    SELECT ?x       SELECT (term AS ?x)     in a subquery: AS a new name
    GROUP BY ?x     GROUP BY (term)
    ORDER BY ?x     ORDER BY (term)

A variable that the text itself assigns (`AS ?x`, `VALUES ?x`), or tests by name (`BOUND(?x)`), cannot be bound.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from tidings.model.errors import BadRequest
from tidings.model.terms import Term
from tidings.sparql.binding import FillableText
from tidings.sparql.parser.cursor import Cursor
from tidings.sparql.parser.query import read_query
from tidings.sparql.parser.tokens import TOKENS, replace_codepoint_escapes, tokenize
from tidings.sparql.parser.update import read_update


class Place(Enum):
    """The role of a variable in its place."""

    TERM = auto()
    COLUMN = auto()
    INNER_COLUMN = auto()
    KEY = auto()
    NAME = auto()


_LEADS_TO = {
    "BY": Place.KEY,
    "VALUES": Place.NAME,
    **dict.fromkeys(("{", "}", "WHERE", "FROM", "HAVING", "LIMIT", "OFFSET"), Place.TERM),
}


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An occurrence of a variable: the number of its token, its character offsets, and its role."""

    name: str
    token: int
    start: int
    end: int
    place: Place


class Template:
    """A text whose variables can be bound."""

    __slots__ = ("_cuts", "_occurrences", "_parts", "labels", "names", "text", "variables")

    def __init__(self, text: str) -> None:
        self.text = replace_codepoint_escapes(text)
        self._occurrences = tuple(occurrences(self.text))
        self.names = tuple(dict.fromkeys(occurrence.name for occurrence in self._occurrences))
        fixed = {occurrence.name for occurrence in self._occurrences if occurrence.place is Place.NAME}
        self.variables = tuple(name for name in self.names if name not in fixed)
        """The variables that can be bound."""
        self.labels = frozenset(token[2:] for token in tokenize(self.text) if token.startswith("_:"))
        """The labels of the blank nodes in the text."""
        self._cut()

    def _cut(self) -> None:
        special = {Place.COLUMN, Place.INNER_COLUMN, Place.KEY}
        self._cuts = tuple(occurrence for occurrence in self._occurrences if occurrence.place in special)
        starts = [0, *(cut.end for cut in self._cuts)]
        ends = [*(cut.start for cut in self._cuts), len(self.text)]
        self._parts = tuple(FillableText(self.text[start:end]) for start, end in zip(starts, ends, strict=True))

    def check(self, bindings: Mapping[str, Term]) -> None:
        """Raise BadRequest for variables that cannot be bound."""
        if unknown := bindings.keys() - set(self.variables):
            known = ", ".join(f"?{name}" for name in self.variables) or "none"
            raise BadRequest(f"the text has no variable ?{min(unknown)} to be bound; it has {known}")

    def filled(self, bindings: Mapping[str, Term]) -> str:
        """The text with terms in the places of these variables."""
        parts = [self._parts[0].fill(bindings).text]
        for cut, part in zip(self._cuts, self._parts[1:], strict=True):
            parts.append(self._wrapped(cut, bindings.get(cut.name)))
            parts.append(part.fill(bindings).text)
        return "".join(parts)

    def _wrapped(self, cut: Occurrence, term: Term | None) -> str:
        if term is None:
            return f"?{cut.name}"
        if cut.place is Place.KEY:
            return f" ({term}) "
        return f" ({term} AS ?{cut.name if cut.place is Place.COLUMN else self._fresh(cut)}) "

    def _fresh(self, cut: Occurrence) -> str:
        """A new name for each place, because the names that a subquery projects are in scope around it."""
        name = f"{cut.name}_{cut.token}"
        while name in self.names:
            name += "_"
        return name

    def read(self, kind: str, samples: Mapping[str, str], prologue: str = "") -> None:
        """Parse the text with sample tokens in the places of some variables.

        Raises SparqlSyntaxError, whose position is one of this text after the prologue.
        """
        cursor = Cursor(prologue + self.text)
        first = sum(1 for token in tokenize(prologue) if token)
        for occurrence in self._occurrences:
            if occurrence.place is Place.TERM and occurrence.name in samples:
                cursor.toks[first + occurrence.token] = samples[occurrence.name]
        if kind == "update":
            read_update(cursor)
        else:
            read_query(cursor)


def occurrences(text: str) -> Iterator[Occurrence]:
    """All occurrences of variables. A clause ends with its group, and within brackets a variable is a plain term."""
    around: list[int] = []
    brackets = 0
    clause = Place.TERM
    last = before = ""
    for number, token in enumerate(TOKENS.finditer(text)):
        word = token[1].upper()
        if word in _LEADS_TO:
            clause = _LEADS_TO[word]
        elif word == "SELECT":
            clause = Place.INNER_COLUMN if around else Place.COLUMN
        if word == "{":
            around.append(brackets)
            brackets = 0
        elif word == "}":
            brackets = around.pop() if around else 0
        elif word in {"(", ")"}:
            brackets += 1 if word == "(" else -1
        elif word[:1] in {"?", "$"} and len(word) > 1:
            named = clause is Place.NAME or last == "AS" or (before, last) == ("BOUND", "(")
            place = Place.NAME if named else Place.TERM if brackets > 0 else clause
            yield Occurrence(token[1][1:], number, token.start(1), token.end(1), place)
        before, last = last, word


def prologue(text: str, namespaces: Mapping[str, str]) -> str:
    """The PREFIX lines that a text needs: for the known prefixes that it uses without declaring them before."""
    toks = tokenize(replace_codepoint_escapes(text))
    declared: set[str] = set()
    used: dict[str, None] = {}
    for last, token in zip(["", *toks], toks, strict=False):
        prefix, colon, _ = token.partition(":")
        if not colon or token[0] in "\"'<_":
            continue
        if last.upper() == "PREFIX":
            declared.add(prefix)
        elif prefix not in declared:
            used[prefix] = None
    return "".join(f"PREFIX {prefix}: <{namespaces[prefix]}>\n" for prefix in used if prefix in namespaces)
