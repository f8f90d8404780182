"""The conversation between a broker and the process that reads its history lake: a line of JSON for each question, and
several for each answer.

    {"ask":"answer","text":"SELECT …","at":1000,"graphs":["*"],…}    ->  ready, columns, rows, rows, …, done
    {"ask":"commits","after":10,"last":20,"graphs":["*"],…}          ->  ready, columns, rows, …, done, or refused

Rows have terms in N-Triples, null where a variable is unbound; the rows of commits are (seq, time, op, s, p, o, g, by),
in the order of commits. A question names the graphs that its sender may read; the answer has no quads of other graphs.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

import msgspec

from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.protocol.entries import Entry, published_by
from tidings.protocol.entry_lines import NONE, WEIGHTS

COMMITS = ("seq", "time", "op", "s", "p", "o", "g", "by")
"""The columns of commits."""


class AskThen(msgspec.Struct, frozen=True, tag_field="ask", tag="answer", omit_defaults=True):
    """Asks a query for the state after a commit. `default` and `named` replace FROM and FROM NAMED."""

    text: str
    at: int
    graphs: tuple[str, ...]
    """Patterns of the graphs that the sender may read."""
    base: str | None = None
    default: tuple[str, ...] | None = None
    named: tuple[str, ...] | None = None
    has_dataset: bool = False
    rows: int | None = None
    """The most rows that the answer may have."""


class AskCommits(msgspec.Struct, frozen=True, tag_field="ask", tag="commits", omit_defaults=True):
    """Asks for the commits after `after`, up to `last`."""

    after: int
    last: int
    graphs: tuple[str, ...]
    every: bool = False
    """Whether the answer has also those commits of which the sender may read nothing."""
    rows: int | None = None


Question: TypeAlias = AskThen | AskCommits


class Ready(msgspec.Struct, frozen=True, tag_field="said", tag="ready"):
    """Spark runs, and begins to work on the answer."""


class Columns(msgspec.Struct, frozen=True, tag_field="said", tag="columns"):
    names: tuple[str, ...]


class Truth(msgspec.Struct, frozen=True, tag_field="said", tag="truth"):
    """The answer of ASK."""

    value: bool


class Rows(msgspec.Struct, frozen=True, tag_field="said", tag="rows"):
    rows: list[tuple[Any, ...]]


class Done(msgspec.Struct, frozen=True, tag_field="said", tag="done"):
    """The answer is complete."""


class Refused(msgspec.Struct, frozen=True, tag_field="said", tag="refused"):
    """There is no answer, or it breaks off."""

    error: dict[str, Any]
    """The error in the envelope of `protocol/errors.py`."""


Said: TypeAlias = Ready | Columns | Truth | Rows | Done | Refused

_questions = msgspec.json.Decoder[Question](Question)
_answers = msgspec.json.Decoder[Said](Said)


def read_question(line: bytes) -> Question:
    """Raises msgspec.DecodeError."""
    question: Question = _questions.decode(line)
    return question


def read_said(line: bytes) -> Said:
    """Raises msgspec.DecodeError."""
    said: Said = _answers.decode(line)
    return said


def written(line: Question | Said) -> bytes:
    return msgspec.json.encode(line) + b"\n"


def entries_of(rows: Iterable[tuple[Any, ...]]) -> list[Entry]:
    """The commits from their rows, in order."""
    deltas: dict[int, dict[Quad, int]] = {}
    about: dict[int, tuple[int, str | None]] = {}
    for seq, time, op, s, p, o, g, by in rows:
        delta = deltas.setdefault(seq, {})
        if op != NONE:
            delta[s, p, o, g] = WEIGHTS[op]
        about[seq] = time, by if by is not None else about.get(seq, (0, None))[1]
    return [
        Entry(seq, about[seq][0], ZSet.owning(delta), () if (by := about[seq][1]) is None else (published_by(by),))
        for seq, delta in deltas.items()
    ]
