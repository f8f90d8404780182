"""Notes in the log whether the initial data were loaded completely. If not, the next start loads them again."""

from collections.abc import Iterable

from tidings.log.entry import Note


class Seeding:
    """Keeps this one fact."""

    KINDS = ("seeding", "seeded")

    def __init__(self) -> None:
        self.unfinished = False

    def restore(self, note: Note) -> None:
        self.unfinished = note.kind == "seeding"

    def notes(self) -> Iterable[Note]:
        return (Note("seeding", {}),) if self.unfinished else ()
