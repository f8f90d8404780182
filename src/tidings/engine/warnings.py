"""Collects warnings about the texts that an engine has parsed, and reports each once."""

from collections.abc import Callable, Iterable

_MOST = 256
_LONGEST = 500


class Warnings:
    """Collects the warnings of the parser, and calls `tell` with each when it first occurs.

    Any client may send texts, so the number and the length of the warnings are limited.
    """

    __slots__ = ("_seen", "tell")

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self.tell: Callable[[str], None] | None = None

    def __bool__(self) -> bool:
        """Whether there was any warning so far."""
        return bool(self._seen)

    def note(self, warnings: Iterable[str]) -> None:
        for warning in warnings:
            said = warning[:_LONGEST]
            if said not in self._seen and len(self._seen) < _MOST:
                self._seen.add(said)
                if self.tell is not None:
                    self.tell(said)
