"""Logs to test with: small entries, written the way a broker writes them."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from hypothesis import strategies as st

from tidings.log.entry import Entry, Note
from tidings.log.journal import Journal, Settings
from tidings.log.layout import log_of, snapshots_of
from tidings.log.recovery import Recovered, recover
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

NOTHING: ZSet[Quad] = ZSet()


def quad(n: int) -> Quad:
    return f"<http://example.org/s{n}>", "<http://example.org/p>", f'"value {n}"', ""


def commit(seq: int, *, time: int = 0, quads: int = 2, notes: tuple[Note, ...] = ()) -> Entry:
    """A commit that takes away what the one before it added."""
    removed = [quad(seq - 1)] if seq > 1 and quads > 1 else []
    added = [quad(seq), *(quad(1000 * seq + n) for n in range(quads - 1 - len(removed)))]
    return Entry(seq, time or seq * 1000, ZSet.change(removed=removed, added=added), notes)


def commits(first: int, last: int) -> list[Entry]:
    return [commit(seq) for seq in range(first, last + 1)]


def remark(seq: int, text: str, *, time: int = 0) -> Entry:
    """An entry of notes only."""
    return Entry(seq, time or seq * 1000, NOTHING, (Note("remark", {"text": text}),))


def make_folder(folder: Path) -> Path:
    log_of(folder).mkdir(parents=True, exist_ok=True)
    snapshots_of(folder).mkdir(exist_ok=True)
    return folder


def journal_of(folder: Path, settings: Settings | None = None) -> Journal:
    """A journal after recovery."""
    recovered, _ = recovered_from(make_folder(folder))
    return Journal(folder, recovered.place, settings or Settings(durability="os"))


def recovered_from(folder: Path) -> tuple[Recovered, list[Entry]]:
    recovered = recover(folder)
    return recovered, list(recovered.entries())


def write(journal: Journal, entries: Iterable[Entry]) -> None:
    """Append all, and make them durable together."""
    for entry in entries:
        journal.append(entry)
    if batch := journal.take():
        journal.write(batch)


def write_log(folder: Path, entries: Iterable[Entry], settings: Settings | None = None) -> None:
    """Write entries one by one, and close."""
    journal = journal_of(folder, settings)
    for entry in entries:
        write(journal, [entry])
    journal.close()


def segment(folder: Path, first: int = 1) -> Path:
    return folder / "log" / f"{first:020}.jsonl"


def fold(entries: Iterable[Entry], start: Iterable[Quad] = ()) -> set[Quad]:
    """The quads that all these changes lead to."""
    quads = set(start)
    for entry in entries:
        quads.difference_update(entry.delta.removed())
        quads.update(entry.delta.added())
    return quads


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@st.composite
def histories(draw: st.DrawFn) -> list[Entry]:
    """Commits and notes in any order, with any characters."""
    return list(_history(draw))


def _history(draw: st.DrawFn) -> Iterator[Entry]:
    seq = time = 0
    present: set[Quad] = set()
    for _ in range(draw(st.integers(0, 12))):
        time += draw(st.integers(0, 2))
        kept = draw(st.sets(st.sampled_from(sorted(present)))) if present else set()
        quads = st.tuples(
            st.just("<s>"), st.just("<p>"), _texts.map(lambda text: f'"{text}"'), st.sampled_from(["", "<g>"])
        )
        after = kept | draw(st.sets(quads, max_size=3))
        delta = ZSet.change(removed=sorted(present - after), added=sorted(after - present))
        notes = tuple(Note("remark", {"text": text}) for text in draw(st.lists(_texts, max_size=2)))
        if delta or notes:
            seq += bool(delta)
            present = after
            yield Entry(seq, time, delta, notes)
