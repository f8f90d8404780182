"""`IN` with constants: a look-up in a set makes most comparisons of `=` unnecessary."""

from collections.abc import Callable
from typing import TypeAlias

from tidings.model.terms import Term, is_tagged
from tidings.sparql.algebra import Expression
from tidings.sparql.evaluate.context import Context
from tidings.sparql.evaluate.layout import Row
from tidings.sparql.values import equals

_Sets: TypeAlias = tuple[frozenset[Term], list[Term], list[Term]]
"""All constants; those that are literals; the literals that are not plain strings."""


def is_constant(choice: Expression) -> bool:
    """Whether a choice is a constant, lifted or not, that is no language-tagged literal: those have many spellings."""
    return isinstance(choice, str) and choice[0] != "?" and choice[:2] != "$x" and not is_tagged(choice)


class Choices:
    """The constants on the right of IN. The values of lifted constants change from one evaluation to the next."""

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
        """Compare with each constant by `=`; an error counts only if no constant is equal."""

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
