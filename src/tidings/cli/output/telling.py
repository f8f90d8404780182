"""Formats notifications: for people as signed lines, for programs as JSON lines.

Answers are multisets. This module sorts their rows, so that the same change always has the same text.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol

import orjson

from tidings.cli.output.names import Names, prefixes_of
from tidings.cli.output.paint import signed
from tidings.engine.commit import Commit
from tidings.engine.plans.spu import Subscription
from tidings.model.formats.results.json import term_value
from tidings.model.results import Row
from tidings.sparql.values import OrderKey, order_key


class Teller(Protocol):
    """Formats first answers and notifications."""

    def first(self, subscription: Subscription, text: str, rows: Iterable[Row]) -> Iterator[bytes]: ...
    def commit(self, number: int, commit: Commit) -> Iterator[bytes]: ...


class Lines:
    """For people."""

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour
        self._names: dict[int, Names] = {}

    def first(self, subscription: Subscription, text: str, rows: Iterable[Row]) -> Iterator[bytes]:
        self._names[subscription.id] = Names(prefixes_of(text))
        answer = in_order(rows)
        yield f"subscription {subscription.id}: {len(answer):,} {'row' if len(answer) == 1 else 'rows'}\n".encode()
        yield from self._rows("+", subscription, answer)

    def commit(self, number: int, commit: Commit) -> Iterator[bytes]:
        if not commit.delta:
            yield f"request {number}: changes nothing\n".encode()
            return
        came, went = (sum(1 for _ in quads) for quads in (commit.delta.added(), commit.delta.removed()))
        yield f"commit {number}: +{came:,} -{went:,} quads\n".encode()
        for told in sorted(commit.notifications, key=lambda told: told.subscription.id):
            added, removed = in_order(told.changes.added()), in_order(told.changes.removed())
            yield f"subscription {told.subscription.id}: +{len(added):,} -{len(removed):,} rows\n".encode()
            yield from self._rows("-", told.subscription, removed)
            yield from self._rows("+", told.subscription, added)

    def _rows(self, sign: str, subscription: Subscription, rows: list[Row]) -> Iterator[bytes]:
        names = self._names[subscription.id]
        for row in rows:
            cells = [f"?{name} {names[term]}" for name, term in zip(subscription.variables, row, strict=True) if term]
            yield signed(sign, "  ".join(cells) or "(nothing bound)", colour=self._colour).encode()


class Json:
    """For programs. The first answer of a subscription has sequence 0 and commit 0."""

    def first(self, subscription: Subscription, text: str, rows: Iterable[Row]) -> Iterator[bytes]:
        yield _line(subscription, 0, 0, rows, ())

    def commit(self, number: int, commit: Commit) -> Iterator[bytes]:
        for told in sorted(commit.notifications, key=lambda told: told.subscription.id):
            yield _line(told.subscription, told.sequence, number, told.changes.added(), told.changes.removed())


def _line(
    subscription: Subscription, sequence: int, commit: int, added: Iterable[Row], removed: Iterable[Row]
) -> bytes:
    names = subscription.variables
    document = {
        "subscription": subscription.id,
        "sequence": sequence,
        "commit": commit,
        "added": [binding(names, row) for row in in_order(added)],
        "removed": [binding(names, row) for row in in_order(removed)],
    }
    return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)


def binding(names: tuple[str, ...], row: Row) -> dict[str, dict[str, str]]:
    return {name: term_value(term) for name, term in zip(names, row, strict=True) if term}


def in_order(rows: Iterable[Row]) -> list[Row]:
    """The rows in the order of ORDER BY on all columns; the spelling of terms breaks ties."""
    return sorted(rows, key=_rank)


def _rank(row: Row) -> list[tuple[OrderKey, str]]:
    return [(order_key(term), term or "") for term in row]
