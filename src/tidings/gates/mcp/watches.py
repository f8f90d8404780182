"""Watches: the queries that agents watch, and the rows that each agent has seen, as facts of the log.

    changes = the answer now - the rows seen        seen += the changes told, once the agent confirms them

The difference is exact however long an agent was away, and whatever was restarted meanwhile. An agent confirms with a
cursor that it has the changes; otherwise it gets the same changes again. The changes told are facts, too, so a cursor
is still valid after a restart.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from msgspec import Struct, field

from tidings.gates.mcp.errors import TooManyWatches, UnknownWatch
from tidings.log.entry import Note
from tidings.model.results import Row

MOST_WATCHES = 200
"""Of one owner."""
MOST_ROWS = 10_000
"""In the answer of one."""

Key: TypeAlias = tuple[str | None, str]
"""Whose it is, and what they call it."""
Rows: TypeAlias = Counter[Row]


class Told(Struct, frozen=True):
    """The changes that were told of a watch, until its agent confirms them."""

    cursor: str
    added: Rows
    removed: Rows


class Watch(Struct):
    """A subscription of an agent. `seen` is what it said it has been told, and `looks` how often it said so."""

    owner: str | None
    name: str
    text: str
    columns: tuple[str, ...]
    seen: Rows = field(default_factory=Counter)
    looks: int = 0
    told: Told | None = None


class Watches:
    """All of them; a keeper of facts."""

    KINDS = ("watch", "told", "look", "unwatch")

    def __init__(self) -> None:
        self._all: dict[Key, Watch] = {}

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Watch]:
        return iter(list(self._all.values()))

    def of(self, owner: str | None) -> list[Watch]:
        return [watch for watch in self._all.values() if watch.owner == owner]

    def find(self, owner: str | None, name: str) -> Watch:
        """Raises UnknownWatch."""
        watch = self._all.get((owner, name))
        if watch is None:
            raise UnknownWatch(f"there is no watch {name!r}; begin one with the tool watch")
        return watch

    def check_room(self, owner: str | None, name: str) -> None:
        """Raises TooManyWatches."""
        if (owner, name) not in self._all and len(self.of(owner)) >= MOST_WATCHES:
            raise TooManyWatches(f"{MOST_WATCHES} watches are there already; end one with unwatch")

    # -- facts ----------------------------------------------------------------------------------------------------

    def restore(self, note: Note) -> None:
        content = note.content
        key = (content.get("owner"), content["name"])
        match note.kind:
            case "watch":
                watch = Watch(*key, content["sparql"], tuple(content["columns"]), looks=content.get("looks", 0))
                watch.seen = _rows(content.get("seen", ()))
                self._all[key] = watch
            case "told":
                if (known := self._all.get(key)) is not None:
                    known.told = Told(content["cursor"], _rows(content["added"]), _rows(content["removed"]))
            case "look":
                known = self._all.get(key)
                if known is not None and known.told is not None and content["looks"] == known.looks + 1:
                    _look(known, known.told)
            case _:
                self._all.pop(key, None)

    def notes(self) -> Iterable[Note]:
        for watch in self._all.values():
            yield watch_note(watch)
            if watch.told is not None:
                yield told_note(watch, watch.told)


def _look(watch: Watch, told: Told) -> None:
    watch.looks += 1
    watch.seen.update(told.added)
    watch.seen.subtract(told.removed)
    watch.seen, watch.told = +watch.seen, None


def watch_note(watch: Watch) -> Note:
    said = {"sparql": watch.text, "columns": list(watch.columns), "looks": watch.looks, "seen": _listed(watch.seen)}
    return Note("watch", _of(watch) | said)


def told_note(watch: Watch, told: Told) -> Note:
    """The note that these changes were told to the agent."""
    said = {"cursor": told.cursor, "added": _listed(told.added), "removed": _listed(told.removed)}
    return Note("told", _of(watch) | said)


def look_note(watch: Watch) -> Note:
    """The note that the agent has confirmed the changes it was told."""
    return Note("look", _of(watch) | {"looks": watch.looks + 1})


def unwatch_note(watch: Watch) -> Note:
    return Note("unwatch", _of(watch))


def _of(watch: Watch) -> dict[str, object]:
    owner: dict[str, object] = {} if watch.owner is None else {"owner": watch.owner}
    return {"name": watch.name, **owner}


def _listed(rows: Rows) -> list[list[str | None]]:
    return [list(row) for row in rows.elements()]


def _rows(listed: Iterable[Iterable[str | None]]) -> Rows:
    return Counter(tuple(row) for row in listed)


def difference(now: Rows, seen: Rows) -> list[tuple[bool, Row]]:
    """Rows that went, then rows that came, in a fixed order; True is for those that came."""
    went = sorted((seen - now).elements(), key=_order)
    came = sorted((now - seen).elements(), key=_order)
    return [*((False, row) for row in went), *((True, row) for row in came)]


def _order(row: Row) -> tuple[str, ...]:
    return tuple(term or "" for term in row)
