"""Reads events from files, one on each line: JSON objects, or the notation of approximate matching."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from tidings.cli.input.arguments import UsageError
from tidings.matching.language.documents import event_of
from tidings.matching.language.notation import read_event
from tidings.matching.language.values import Event
from tidings.model.errors import BadRequest, TidingsError

_LONGEST = 64 * 2**20
"""Characters of a line."""


class Read(NamedTuple):
    """An event, and its place in the files."""

    place: str
    event: Event


def read_events(files: Sequence[str]) -> Iterator[Read]:
    """The events of all files, in order. Raises BadRequest with the place of the fault."""
    for name in files or ["-"]:
        yield from _read_file(name)


def _read_file(name: str) -> Iterator[Read]:
    if name == "-":
        yield from _read_lines("stdin", sys.stdin)
        return
    try:
        with Path(name).open(encoding="utf-8") as file:
            yield from _read_lines(name, file)
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadRequest(f"{name} is not UTF-8: {error}") from error


def _read_lines(name: str, lines: Iterator[str]) -> Iterator[Read]:
    """The events of the lines of a file, without a byte order mark."""
    for number, line in enumerate(lines, start=1):
        text = (line.removeprefix("\ufeff") if number == 1 else line).strip()
        if text:
            place = f"{name}:{number}"
            yield Read(place, _read_line(text, place))


def _read_line(line: str, place: str) -> Event:
    if len(line) > _LONGEST:
        raise BadRequest(f"{place}: the line has more than {_LONGEST:,} characters")
    try:
        if not _is_json(line):
            return read_event(line)
        return event_of(msgspec.json.decode(line))
    except msgspec.DecodeError as error:
        raise BadRequest(f"{place}: neither JSON ({error}) nor an event in the notation") from error
    except TidingsError as error:
        raise BadRequest(f"{place}: {error}") from error


def _is_json(line: str) -> bool:
    """Whether a line is JSON. After a brace and a quoted text, it is JSON if a colon follows."""
    inner = line[1:].lstrip()
    if not inner.startswith('"'):
        return not line.startswith("{") or inner.startswith("}")
    try:
        _, end = _quoted(inner)
    except ValueError:
        return True
    return inner[end:].lstrip().startswith(":")


def _quoted(text: str) -> tuple[str, int]:
    place = 1
    while place < len(text):
        if text[place] == "\\":
            place += 1
        elif text[place] == '"':
            return text[1:place], place + 1
        place += 1
    raise ValueError("not closed")
