"""The parser's place in the text: the current token, the prologue so far, and how tokens become terms."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from tidings.model.errors import SparqlSyntaxError
from tidings.model.iris import DEFAULT_BASE, resolve
from tidings.model.terms import FALSE, TRUE, XSD, Term, Var, escape
from tidings.sparql.algebra import Aggregate
from tidings.sparql.parser.slots import Slot, read_iri, read_number, read_string
from tidings.sparql.parser.tokens import locate, replace_codepoint_escapes, tokenize


class Cursor:
    """Tokens with a position. A parsing function reads tokens from a cursor, and moves it behind them."""

    __slots__ = (
        "aggregates",
        "base",
        "blank_as_variable",
        "block",
        "blocks",
        "data_labels",
        "fresh",
        "i",
        "known",
        "labels",
        "lifted",
        "prefixes",
        "prologue",
        "text",
        "toks",
        "warnings",
    )

    def __init__(self, text: str, base: str | None = None) -> None:
        self.text = replace_codepoint_escapes(text)
        self.toks = tokenize(self.text)
        self.toks += ("", "")  # so that the parser may always look one token ahead
        self.i = 0
        self.base = base or DEFAULT_BASE
        self.prefixes: dict[str, str] = {}
        self.known: dict[str, Term] = {}
        """The terms of the IRIs and prefixed names so far: most texts repeat them."""
        self.prologue: list[str] = []
        self.fresh = 0
        self.blocks = 0
        self.block = 0
        """The number of the present basic graph pattern, operation or template, which is the scope of blank nodes."""
        self.labels: dict[str, int] = {}
        self.data_labels: set[str] = set()
        self.blank_as_variable = True
        self.aggregates: dict[Aggregate, Var] | None = None
        """The aggregates so far, with the variables that stand for them; None where the grammar allows no aggregate."""
        self.warnings: dict[str, None] = {}
        """Warnings about valid SPARQL that the user hardly meant."""
        self.lifted: list[Slot] | None = None
        """The places of the constants that the parser has lifted out; None if it does not lift any."""

    # -- reading ------------------------------------------------------------------------------------------------

    def fail(self, expected: str, *, at: int | None = None, message: str | None = None) -> NoReturn:
        index = self.i if at is None else at
        line, column = locate(self.text, index)
        found = self.toks[index] if index < len(self.toks) else ""
        if message is None:
            shown = f"'{found}'" if found else "the end of the text"
            message = f"found {shown}, expected {expected}"
        raise SparqlSyntaxError(message, line=line, column=column, expected=expected, source=self.text)

    def expect(self, token: str) -> None:
        if self.toks[self.i] != token:
            self.fail(f"'{token}'")
        self.i += 1

    def accept(self, token: str) -> bool:
        if self.toks[self.i] == token:
            self.i += 1
            return True
        return False

    def keyword(self) -> str:
        """The current token in upper case, as keywords are."""
        return self.toks[self.i].upper()

    def accept_word(self, word: str) -> bool:
        if self.toks[self.i].upper() == word:
            self.i += 1
            return True
        return False

    def expect_word(self, word: str) -> None:
        if self.toks[self.i].upper() != word:
            self.fail(word)
        self.i += 1

    # -- names --------------------------------------------------------------------------------------------------

    def new_variable(self) -> Var:
        """A fresh variable, with a name that no text can have."""
        self.fresh += 1
        return f"?:{self.fresh}"

    def variable(self) -> Var:
        token = self.toks[self.i]
        if token[:1] not in {"?", "$"} or len(token) < 2:
            self.fail("a variable")
        self.i += 1
        return "?" + token[1:]

    def iri(self) -> Term:
        """An IRI or a prefixed name."""
        token = self.toks[self.i]
        term = self.known.get(token)
        if term is None:
            term = self.known[token] = self._read_iri(token)
        self.i += 1
        return term

    def at_iri(self) -> bool:
        token = self.toks[self.i]
        return (token[:1] == "<" and len(token) > 1 and token[-1] == ">") or (":" in token and token[0] not in "\"'_")

    def _read_iri(self, token: str) -> Term:
        term = read_iri(token, self.prefixes, self.base)
        if term is None:
            if not self.at_iri():
                self.fail("an IRI")
            prefix = token.partition(":")[0]
            self.fail("a declared prefix", message=f"the prefix '{prefix}:' is not declared")
        return term

    def read_prologue(self) -> None:
        """BASE and PREFIX declarations; a later one with the same prefix replaces the earlier."""
        while True:
            word = self.toks[self.i].upper()
            if word == "PREFIX":
                self._read_prefix()
            elif word == "BASE":
                self.i += 1
                self.base = self._plain_iri()[1:-1]
                self.known.clear()
            else:
                return

    def _read_prefix(self) -> None:
        name = self.toks[self.i + 1]
        if name[-1:] != ":" or name.count(":") != 1 or name == "_:":
            self.i += 1
            self.fail("a prefix ending in ':'")
        self.i += 2
        namespace = self._plain_iri()
        if self.lifted:  # each slot keeps the prefixes that were declared at its place
            self.prefixes = self.prefixes.copy()
        self.prefixes[name[:-1]] = namespace[:-1]
        self.prologue.append(f"PREFIX {name} {namespace}")
        self.known.clear()

    def _plain_iri(self) -> Term:
        token = self.toks[self.i]
        if token[:1] != "<" or token[-1] != ">" or len(token) < 2:
            self.fail("an IRI in angle brackets")
        self.i += 1
        return f"<{resolve(self.base, token[1:-1])}>"

    # -- terms --------------------------------------------------------------------------------------------------

    def term(self) -> str:
        """A variable, IRI, literal or labelled blank node; the parameter for a constant, if constants are lifted."""
        if self.lifted is None:
            return self.plain_term()
        start = self.i
        term = self.plain_term()
        token = self.toks[start]
        if term[0] in "?_" or term in {TRUE, FALSE}:
            return term
        slot = Slot(start, token, term, self.prefixes, self.base)
        self.lifted.append(slot)
        return f"${slot.kind}{len(self.lifted) - 1}"

    def plain_term(self) -> str:
        """A term, never lifted."""
        token = self.toks[self.i]
        first = token[:1]
        if first in {"?", "$"} and len(token) > 1:
            self.i += 1
            return "?" + token[1:]
        known = self.known.get(token)
        if known is not None:
            self.i += 1
            return known
        if first in {'"', "'"}:
            return self.string_literal()
        if first == "_" and token[1:2] == ":":
            return self.labelled_blank()
        if first and (first in "0123456789" or (first in "+-." and len(token) > 1)):
            return self.number()
        if token in {"true", "false"} or self.keyword() in {"TRUE", "FALSE"}:
            self.i += 1
            return TRUE if token.lower() == "true" else FALSE
        if not self.at_iri():
            self.fail("a term")
        return self.iri()

    def number(self) -> Term:
        """The literal of a numeric token, with the lexical form that was written."""
        self.i += 1
        return read_number(self.toks[self.i - 1])

    def string(self) -> str:
        """The characters of a string token."""
        token = self.toks[self.i]
        if token[:1] not in {'"', "'"} or len(token) < 2:
            self.fail("a string")
        text = read_string(token)
        if text is None:
            self.fail("a string", message="the string has an escape that names no character")
        self.i += 1
        return text

    def string_literal(self) -> Term:
        quoted = f'"{escape(self.string())}"'
        follower = self.toks[self.i]
        if follower[:1] == "@" and len(follower) > 1:
            self.i += 1
            return quoted + follower
        if follower == "^^":
            self.i += 1
            datatype = self.iri()
            return quoted if datatype == f"<{XSD}string>" else f"{quoted}^^{datatype}"
        return quoted

    # -- blank nodes --------------------------------------------------------------------------------------------

    def labelled_blank(self) -> str:
        """The variable (in a pattern) or the term (elsewhere) of a blank node label. Blocks cannot share labels."""
        label = self.toks[self.i]
        if self.labels.setdefault(label, self.block) != self.block:
            self.fail("a new label", message=f"the blank node {label} is already used in another part of the request")
        self.i += 1
        return f"?:{label}" if self.blank_as_variable else label

    def anonymous_blank(self) -> str:
        self.fresh += 1
        return f"?:{self.fresh}" if self.blank_as_variable else f"_:_{self.fresh}"

    def new_block(self) -> None:
        """Begin a new scope of blank node labels."""
        self.blocks += 1
        self.block = self.blocks

    @contextmanager
    def nesting(self) -> Iterator[None]:
        """Turn a RecursionError of the code within into a syntax error."""
        try:
            yield
        except RecursionError:
            self.fail("less nesting", message="the text is nested too deeply")

    @contextmanager
    def outside_patterns(self) -> Iterator[None]:
        """In the code within, blank nodes are terms of a template or of data."""
        self.blank_as_variable = False
        self.new_block()
        try:
            yield
        finally:
            self.blank_as_variable = True
            self.new_block()
