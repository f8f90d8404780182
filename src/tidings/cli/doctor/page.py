"""Prints findings, for people and for programs. It needs only Python's standard library, as the checks do."""

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from tidings import __version__
from tidings.cli.doctor.finding import Finding, State
from tidings.cli.output.paint import harmless

_PAINTS: dict[State, str] = {"ok": "\x1b[32m", "note": "\x1b[33m", "problem": "\x1b[1;31m"}
_PLAIN = "\x1b[0m"
_STATE, _NAME = 9, 16
_INDENT = " " * (2 + _STATE + _NAME)
_LEAST = 30
"""The least number of characters for the text of a line, however narrow the terminal."""


def lines(finding: Finding, *, width: int | None, colour: bool) -> Iterator[str]:
    """A finding in columns, its advice below it; folded to a width, if there is one."""
    lead = f"  {finding.state:{_STATE}}{finding.name:{_NAME}}"
    if colour:
        lead = f"  {_PAINTS[finding.state]}{finding.state:{_STATE}}{_PLAIN}{finding.name:{_NAME}}"
    room = None if width is None else max(_LEAST, width - len(_INDENT))
    for number, line in enumerate(_folded(finding.found, room)):
        yield (_INDENT if number else lead) + line
    for line in _folded(f"→ {finding.advice}", room) if finding.advice else ():
        yield _INDENT + line


def _folded(text: str, room: int | None) -> list[str]:
    """The lines of a text. Words stay whole, so that users can copy commands."""
    plain = harmless(text)
    return [plain] if room is None else textwrap.wrap(plain, room, break_long_words=False, break_on_hyphens=False)


def total(findings: Sequence[Finding]) -> str:
    states = Counter(each.state for each in findings)
    if not states["problem"] and not states["note"]:
        return "All is well."
    return f"{_many(states['problem'], 'problem')}, {_many(states['note'], 'note').lower()}."


def _many(number: int, what: str) -> str:
    return f"{number or 'No'} {what}{'s' if number > 1 else ''}"


def document(findings: Sequence[Finding]) -> str:
    healthy = all(each.state != "problem" for each in findings)
    content = {"version": __version__, "healthy": healthy, "checks": [asdict(each) for each in findings]}
    return json.dumps(content, indent=2, ensure_ascii=False)
