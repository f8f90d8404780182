"""Intents: the log notes what the broker is about to ask of the store of record, before it asks.

    intent       these commits go to the store next        resolved by the commits themselves, which follow in the log
    withdrawing  the commits are undone, and their publishers may have been told: restore the state before them
    withdrawn    the store has that state

Two intents may be open: the broker writes one while the store executes the request of the one before. The log does not
note whether the store has confirmed an intent. After a crash, the broker delivers an open intent again, unless the
store refuses it; if it was being withdrawn, the broker restores the state before.
The broker also remembers the last states that the store has agreed to, to detect a store restored from an old backup.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.record.seam import before
from tidings.log.entry import Entry, Note
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

REMEMBERED = 1_000
"""How many states the broker remembers, and checks when the store comes back."""


class Intents:
    """The open intents, and the last states that the store has agreed to."""

    KINDS = ("intent", "withdrawing", "withdrawn", "agreed")

    def __init__(self, commit_log: CommitLog) -> None:
        self._commit_log = commit_log
        self._last: list[tuple[Entry, ...]] = []
        self._had = 0
        """The last commit that the store is known to have."""
        self.taken_back = False
        """Whether the open intents are being withdrawn; the store may have them nevertheless."""
        self._agreed: dict[Quad, bool] = {}
        self._since: deque[ZSet[Quad]] = deque()
        """Commits that the store has, and that are not in `_agreed` yet: entering each commit at once took 3 µs."""
        self._changes = 0
        """How many changes these commits have."""

    @property
    def open(self) -> list[tuple[Entry, ...]]:
        """The commits that the store may have or not, grouped by request."""
        last = self._commit_log.last_commit
        rest = (tuple(entry for entry in commits if entry.commit > last) for commits in self._last)
        return [commits for commits in rest if commits]

    def forget(self, commits: list[Entry]) -> None:
        """The intent for these commits could not be written to the log, so there is none."""
        if commits:
            self._last = [each for each in self._last if each[0].commit < commits[0].commit]

    def taken(self, commits: list[Entry]) -> None:
        """The store has all of these."""
        for entry in commits:
            self.agree(entry.delta)
            self._had = entry.commit

    def agree(self, delta: ZSet[Quad]) -> None:
        """The store has this commit."""
        changes, since = len(delta), self._since
        if changes > REMEMBERED:
            return  # checking so many states would take too long
        since.append(delta)
        self._changes += changes
        while self._changes - len(since[0]) >= REMEMBERED:
            self._changes -= len(since.popleft())
            self._agreed.clear()  # these states are older than the commit that was dropped

    @property
    def agreed(self) -> dict[Quad, bool]:
        """The last states that the store of record has agreed to, the oldest first."""
        agreed = self._agreed
        for delta in self._since:
            for quad, weight in delta.items():
                agreed.pop(quad, None)
                agreed[quad] = weight > 0
        self._since.clear()
        self._changes = 0
        while len(agreed) > REMEMBERED:
            del agreed[next(iter(agreed))]
        return agreed

    def disagree(self, delta: ZSet[Quad]) -> None:
        """A commit that the store may have was undone: the state before it is the right one again."""
        agreed = self.agreed
        for quad, there in before(delta).items():
            if quad in agreed:
                agreed[quad] = there

    def replayed(self, entry: Entry) -> None:
        """A commit was replayed from the log. If an intent has it, the store has it, too."""
        self._had = entry.commit
        if any(each[0].commit <= entry.commit <= each[-1].commit for each in self._last):
            self.agree(entry.delta)

    def begin(self, commits: list[Entry]) -> None:
        """Add an intent. Drop those that the store has, and withdrawn ones whose commit numbers it uses again."""
        kept = (each for each in self._last if self._had < each[-1].commit and each[0].commit < commits[0].commit)
        self._last, self.taken_back = [*kept, tuple(commits)], False

    # -- facts ----------------------------------------------------------------------------------------------------

    def restore(self, note: Note) -> None:
        match note.kind:
            case "intent":
                self.begin([_read(each) for each in note.content["commits"]])
            case "withdrawing":
                self.taken_back = True
            case "withdrawn":
                self._last, self.taken_back = [], False
            case "agreed":
                self.agree(ZSet.owning(_weights(note.content)))

    def notes(self) -> Iterable[Note]:
        if self.open:
            yield from map(intent, self.open)
            if self.taken_back:
                yield WITHDRAWING
        if agreed := self.agreed:
            yield Note("agreed", _changes({quad: 1 if there else -1 for quad, there in agreed.items()}.items()))


def intent(commits: Iterable[Entry]) -> Note:
    """The note for the log, which the broker writes before it sends the request."""
    return Note("intent", {"commits": [_written(each) for each in commits]})


WITHDRAWING = Note("withdrawing", {})
WITHDRAWN = Note("withdrawn", {})


def _written(entry: Entry) -> dict[str, Any]:
    content: dict[str, Any] = {"seq": entry.commit, "time": entry.time, **_changes(entry.delta.items())}
    if entry.notes:
        content["notes"] = [[note.kind, note.content] for note in entry.notes]
    return content


def _read(content: Mapping[str, Any]) -> Entry:
    notes = tuple(Note(kind, fact) for kind, fact in content.get("notes", ()))
    return Entry(content["seq"], content["time"], ZSet.owning(_weights(content)), notes)


def _changes(weights: Iterable[tuple[Quad, int]]) -> dict[str, Any]:
    removed: list[Quad] = []
    added: list[Quad] = []
    for quad, weight in weights:
        (added if weight > 0 else removed).append(quad)
    return {"removed": removed, "added": added}


def _weights(content: Mapping[str, Any]) -> dict[Quad, int]:
    weights: dict[Quad, int] = {}
    for name, weight in (("removed", -1), ("added", 1)):
        for s, p, o, g in content[name]:
            weights[s, p, o, g] = weight
    return weights
