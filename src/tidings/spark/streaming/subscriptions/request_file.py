"""The file of who wants what, for the one who writes it: a line for each who comes, and one for each who goes.

Once most of its lines are of no use any more it is written anew, in full or not at all.
"""

import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import msgspec

from tidings.log.layout import write_whole
from tidings.spark.streaming.errors import StreamUnusable
from tidings.spark.streaming.subscriptions.requested import WantedInFile, Wish

NAME = "wanted.jsonl"
LINES = 1_000
"""Lines that are never too many."""


class WishList:
    """What is wanted of the job that writes to a folder. One process says so; the methods block."""

    def __init__(self, out: Path) -> None:
        self._path = out / NAME
        self._wishes: dict[str, Wish] = {}
        self._lines = sys.maxsize
        """How many the file has; too many if that is not known."""

    def read(self) -> Collection[str]:
        """The spuids of those who are there, as far as the file goes. Raises StreamUnusable."""
        return WantedInFile(self._path).read() or () if self._path.exists() else ()

    def begin(self, wishes: Iterable[Wish]) -> None:
        """Everybody who is there, whatever the file said before. Raises StreamUnusable."""
        self._wishes = {wish.spuid: wish for wish in wishes}
        self.add(())

    def add(self, changes: Sequence[Wish]) -> None:
        """Who came, and who went; it does no harm to say so again. Raises StreamUnusable."""
        for wish in changes:
            if wish.ended:
                self._wishes.pop(wish.spuid, None)
            else:
                self._wishes[wish.spuid] = wish
        whole = self._lines + len(changes) > max(LINES, 2 * len(self._wishes))
        try:
            if whole:
                write_whole(self._path, _lines(self._wishes.values()))
            else:
                with self._path.open("ab") as file:
                    file.write(_lines(changes))
        except OSError as error:
            self._lines = sys.maxsize  # perhaps it has half a line now
            raise StreamUnusable(f"{self._path} cannot be written: {error.strerror}") from error
        self._lines = len(self._wishes) if whole else self._lines + len(changes)


def _lines(wishes: Iterable[Wish]) -> bytes:
    return b"".join(msgspec.json.encode(wish) + b"\n" for wish in wishes)
