"""Whether what a broker begins with was loaded in full: it is begun again after an interruption."""

from collections.abc import Iterable

from tidings.log.entry import Note


class Seeding:
    """Remembers one fact."""

    KINDS = ("seeding", "seeded")

    def __init__(self) -> None:
        self.unfinished = False

    def restore(self, note: Note) -> None:
        self.unfinished = note.kind == "seeding"

    def notes(self) -> Iterable[Note]:
        return (Note("seeding", {}),) if self.unfinished else ()
