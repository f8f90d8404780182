"""`IN` with constants: most of them are told apart from a term without being compared with it."""

from collections.abc import Callable
from typing import TypeAlias

from tidings.model.terms import Term, is_tagged
from tidings.sparql.algebra import Expression
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import Row
from tidings.sparql.values import equals

_Sets: TypeAlias = tuple[frozenset[Term], list[Term], list[Term]]
"""All of them, the literals, and those literals that are no plain strings."""


def is_constant(choice: Expression) -> bool:
    """Whether it is a term that is spelt in one way only, lifted or not."""
    return isinstance(choice, str) and choice[0] != "?" and choice[:2] != "$x" and not is_tagged(choice)


class Choices:
    """Constants among which a term may be; lifted ones may be others in the next evaluation."""

    __slots__ = ("_constants", "_context", "_parameters", "_sets")

    def __init__(self, constants: list[Expression], context: Context) -> None:
        self._constants = [constant for constant in constants if isinstance(constant, str)]
        self._context = context
        self._parameters: tuple[Term, ...] | None = None
        self._sets: _Sets = frozenset(), [], []

    def _known(self) -> _Sets:
        if self._parameters is not self._context.parameters:
            self._parameters = self._context.parameters
            terms = dict.fromkeys(map(self._context.constant, self._constants))
            literals = [term for term in terms if term[0] == '"']
            self._sets = frozenset(terms), literals, [term for term in literals if term[-1] != '"']
        return self._sets

    def test(self, item: Callable[[Row], Term | None]) -> Callable[[Row], bool | None]:
        """`=` with each; an error counts only if none is equal."""

        def test(row: Row) -> bool | None:
            term = item(row)
            if term is None:
                return None
            terms, literals, odd = self._known()
            if term in terms and equals(term, term):
                return True
            if term[0] != '"':
                return False  # an IRI or a blank node equals nothing but itself
            result: bool | None = False
            for other in odd if term[-1] == '"' else literals:
                same = equals(term, other)
                if same:
                    return True
                if same is None:
                    result = None
            return result

        return test
