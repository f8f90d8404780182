"""What a shape is: data of about `size` triples, a query, and pairs of updates, each of which is undone again."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tidings.model.terms import XSD, Quad, Term

EX = "http://example.org/"
PREFIX = f"PREFIX : <{EX}> "

Data = Callable[[int], Iterable[Quad]]
Toggles = Callable[[int], Iterable[tuple[str, str]]]


@dataclass(frozen=True)
class Shape:
    """One row of the table. `early`: subscribed while the store is empty, so that its plan knows no counts. `passing`:
    microseconds that pass before each update."""

    name: str
    query: str | Callable[[int], str]
    data: Data
    toggles: Toggles
    early: bool = False
    passing: int = 0

    def text(self, size: int) -> str:
        return PREFIX + (self.query if isinstance(self.query, str) else self.query(size))

    def updates(self, size: int) -> list[str]:
        """Each change, followed by its inverse: afterwards the store is as before."""
        return [PREFIX + text for pair in self.toggles(size) for text in pair]


def iri(name: object) -> Term:
    return f"<{EX}{name}>"


def triple(s: object, p: str, o: object) -> Quad:
    """A triple of the default graph: numbers are integers, names are IRIs."""
    value = f'"{o}"^^<{XSD}integer>' if isinstance(o, int) else iri(o)
    return iri(s), iri(p), value, ""


def cut(s: object, p: str, o: object) -> tuple[str, str]:
    """A pair of updates: removes an existing triple, and inserts it again."""
    text = f"{{ :{s} :{p} {o if isinstance(o, int) else f':{o}'} }}"
    return f"DELETE DATA {text}", f"INSERT DATA {text}"


def put(s: object, p: str, o: object) -> tuple[str, str]:
    """A pair of updates: inserts a new triple, and removes it again."""
    undo, do = cut(s, p, o)
    return do, undo


def scattered(count: int, below: int) -> Iterator[int]:
    """Different numbers below a bound, in no order, the same each time."""
    step = next(s for s in range(below * 5 // 8 + 1, below * 2) if _coprime(s, below))
    return ((number * step) % below for number in range(min(count, below)))


def _coprime(a: int, b: int) -> bool:
    while b:
        a, b = b, a % b
    return a == 1
