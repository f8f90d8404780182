"""Entries as lines and back: in the feed of commits, whatever the pieces in which it comes."""

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.model.zset import ZSet
from tidings.protocol.commit_feed import FeedFormat
from tidings.protocol.entries import Entry, Note, published_by
from tidings.protocol.entry_lines import (
    ForeignLine,
    IncompleteEntry,
    IncompleteLine,
    assemble,
    change_lines,
    note_lines,
    read_feed,
    read_line,
)

quads = st.tuples(
    st.sampled_from(["<urn:a>", "<urn:b>", "_:c"]),
    st.just("<urn:p>"),
    st.sampled_from(['"1"', '"é\\n"@en', "<urn:o>"]),
    st.sampled_from(["", "<urn:g>"]),
)
deltas = st.dictionaries(quads, st.sampled_from([1, -1]), min_size=1, max_size=4).map(lambda delta: ZSet(delta.items()))
publishers = st.none() | st.just("sensor 7")


def commit(seq: int, delta: ZSet[tuple[str, str, str, str]], publisher: str | None) -> Entry:
    return Entry(seq, seq * 10, delta, () if publisher is None else (published_by(publisher),))


commits = st.lists(st.tuples(deltas, publishers), max_size=4).map(
    lambda parts: [commit(number, *part) for number, part in enumerate(parts, 1)]
)


@given(commits, st.integers(1, 64))
def test_a_feed_is_read_as_it_was_written_in_pieces_of_any_size(entries: list[Entry], size: int) -> None:
    feed = FeedFormat.JSON_LINES
    document = feed.heartbeat.join(b"".join(feed.text(entry)) for entry in entries)
    pieces = [document[start : start + size] for start in range(0, len(document), size)]
    assert list(read_feed(pieces)) == entries


@given(deltas | st.just(ZSet()), st.lists(st.sampled_from(["subscribe", "seeding"]), min_size=1, max_size=3))
def test_notes_follow_the_changes_of_an_entry(delta: ZSet[tuple[str, str, str, str]], kinds: list[str]) -> None:
    entry = Entry(3, 30, delta, tuple(Note(kind, {"number": number}) for number, kind in enumerate(kinds)))
    lines = [read_line(line) for line in (*change_lines(entry, len(entry.notes)), *note_lines(entry))]
    assert [line.left for line in lines] == list(reversed(range(len(delta) + len(kinds))))
    assert list(assemble(lines)) == [entry]


def test_an_entry_is_told_before_the_next_line_is_asked_for() -> None:
    entry = commit(1, ZSet([(("<urn:a>", "<urn:p>", '"1"', ""), 1)]), None)
    lines = [read_line(line) for line in change_lines(entry)] * 2
    asked = iter(lines)
    assert next(assemble(asked)) == entry
    assert list(asked) == lines[1:]


def test_a_note_that_would_look_like_a_change_is_not_written() -> None:
    with pytest.raises(ValueError, match="which is a change"):
        list(note_lines(Entry(1, 1, ZSet(), (Note("add", {}),))))


def line(seq: int, left: int, op: str = "add") -> bytes:
    content = {"seq": seq, "time": 5, "op": op, "s": f"<urn:{left}>", "p": "<urn:p>", "o": '"1"', "g": "", "left": left}
    return orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)


@pytest.mark.parametrize(
    ("document", "error", "said"),
    [
        (line(1, 1), IncompleteEntry, "commit 1 comes without its last 1 changes"),
        (line(1, 2) + line(1, 0), ForeignLine, "belongs to another entry"),
        (line(1, 1) + line(2, 0), ForeignLine, "belongs to another entry"),
        (line(1, 0)[:-9], IncompleteLine, "broke off within a line"),
        (b"<html>\n", msgspec.DecodeError, "malformed"),
        (line(1, 0, "change"), KeyError, "change"),
    ],
)
def test_a_feed_that_makes_no_sense_is_an_error(document: bytes, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        list(read_feed([document]))
