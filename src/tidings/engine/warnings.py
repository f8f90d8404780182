"""What is doubtful about the texts that an engine has read: told once each, and not for ever."""

from collections.abc import Callable, Iterable

_MOST = 256
_LONGEST = 500


class Warnings:
    """Collects what the parser warns of. `tell` is called with each warning when it first comes up.

    Texts come from anybody, so that only so many warnings, and only so much of each, is kept and told.
    """

    __slots__ = ("_seen", "tell")

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self.tell: Callable[[str], None] | None = None

    def __bool__(self) -> bool:
        """Whether any text read so far was doubtful."""
        return bool(self._seen)

    def note(self, warnings: Iterable[str]) -> None:
        for warning in warnings:
            said = warning[:_LONGEST]
            if said not in self._seen and len(self._seen) < _MOST:
                self._seen.add(said)
                if self.tell is not None:
                    self.tell(said)
