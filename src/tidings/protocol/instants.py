"""Instants and delays as clients write them: ISO 8601, or plain numbers."""

import re
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from msgspec import Struct

from tidings.model.errors import BadRequest

_DURATION = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NUMBER = re.compile(r"[0-9]{1,18}")
_LAST = 253_402_300_799_999_999
"""The end of the year 9999: ISO 8601 with four digits has no later instant."""
_LONGEST = 100 * 366 * 86_400


class At(Struct, frozen=True):
    """At an instant, in microseconds since 1970."""

    micros: int

    def instant(self, now: int) -> int:
        return self.micros


class After(Struct, frozen=True):
    """After a delay, in seconds."""

    seconds: float

    def instant(self, now: int) -> int:
        return now + int(self.seconds * 1e6)


Due: TypeAlias = At | After
"""When an update is to be carried out."""


def read_due(at: str | int | None, delay: str | float | None) -> Due | None:
    """The value of `at` or `delay`; None if neither is given. Raises BadRequest."""
    if at is not None and delay is not None:
        raise BadRequest("an update happens at an instant or after a delay, not both")
    if at is not None:
        return At(read_instant(at))
    return None if delay is None else After(read_delay(delay))


def read_instant(at: str | int) -> int:
    """`2026-11-15T10:00:00Z`, or microseconds since 1970."""
    try:
        micros = int(at) if isinstance(at, int) or _NUMBER.fullmatch(at) else _micros(datetime.fromisoformat(at))
    except ValueError:
        micros = -1
    if not 0 <= micros <= _LAST:
        raise BadRequest(f"at is {at!r}, and may be like 2026-11-15T10:00:00Z or microseconds since 1970")
    return micros


def _micros(instant: datetime) -> int:
    if instant.tzinfo is None:
        raise ValueError("no one can tell where")
    return (instant - _EPOCH) // _MICROSECOND


def read_delay(delay: str | float) -> float:
    """Seconds: `2.5`, or a duration as in `PT1M30S`."""
    seconds = -1.0
    if isinstance(delay, str) and (parts := _DURATION.fullmatch(delay)) and any(parts.groups()):
        days, hours, minutes, rest = (float(part or 0) for part in parts.groups())
        seconds = ((days * 24 + hours) * 60 + minutes) * 60 + rest
    else:
        try:
            seconds = float(delay)
        except ValueError:
            seconds = -1.0
    if not 0 <= seconds <= _LONGEST:
        raise BadRequest(f"delay is {delay!r}, and may be seconds, like 2.5, or a duration, like PT1M30S")
    return seconds


def shown(instant: int) -> str:
    """An instant in microseconds since 1970, written as ISO 8601."""
    return (_EPOCH + timedelta(microseconds=instant)).isoformat().replace("+00:00", "Z")
