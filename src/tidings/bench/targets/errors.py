"""The errors of targets: branches of the tree in `model/errors.py`.

TidingsError
├── BadRequest
│   └── BadTarget            bad_target           400   mistakes, each with its key
├── UnreachableTarget        target_unreachable   502   no server answers at its address
└── TargetFailed             target_failed        500   it ended, or its answers are invalid; the tail of its log
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tidings.client.errors import CannotConnect, ConnectionLost, NoAnswer, NotUnderstood
from tidings.model.errors import BadRequest, TidingsError


class BadTarget(BadRequest):
    """The settings of a target are invalid: every mistake, with its key."""

    code = "bad_target"

    def __init__(self, name: str, mistakes: Iterable[str]) -> None:
        self.name = name
        self.mistakes = tuple(mistakes)
        super().__init__(f"the target {name} cannot be had like this: {'; '.join(self.mistakes)}")

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"mistakes": list(self.mistakes)}


class UnreachableTarget(TidingsError):
    status = 502
    code = "target_unreachable"


class TargetFailed(TidingsError):
    """A target ended, or its answers are invalid. `tail` is the end of its log, if there is one."""

    code = "target_failed"

    def __init__(self, message: str, tail: str = "") -> None:
        super().__init__(f"{message}\nthe end of its log:\n{tail}" if tail else message)
        self.tail = tail

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"log": self.tail}


@contextmanager
def translated(address: str) -> Iterator[None]:
    """Turn errors of clients into errors of a target, except `Refused`, with which a target refuses a request."""
    try:
        yield
    except CannotConnect as error:
        raise UnreachableTarget(str(error)) from error
    except NoAnswer as error:
        raise TargetFailed(f"{address} did not answer in time") from error
    except (ConnectionLost, NotUnderstood) as error:
        raise TargetFailed(f"{address} was lost: {error or type(error).__name__}") from error
