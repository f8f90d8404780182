"""Functions that read the value of a setting from the command line, the environment or a file."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from ipaddress import ip_network
from typing import Any

from tidings.model.formats.grammar import ABSOLUTE_IRI

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#@\s]+")
_TRUTH = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}


def whole(value: object) -> int:
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
    if type(number) is not int or number < 0:
        raise ValueError("a whole number, 0 or more")
    return number


def positive(value: object) -> int:
    number = whole(value)
    if not number:
        raise ValueError("1 or more")
    return number


def port(value: object) -> int:
    number = whole(value)
    if number > 65535:
        raise ValueError("a port between 0 and 65535")
    return number


def seconds(value: object) -> float:
    number = -1.0
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        with suppress(ValueError):
            number = float(value)
    if not 0 <= number < float("inf"):
        raise ValueError("a number of seconds, 0 or more")
    return number


def rate(value: object) -> float:
    try:
        return seconds(value)
    except ValueError as error:
        raise ValueError("a number, 0 or more") from error


def size_of(value: object) -> int:
    """`16M` is 16 times 1,048,576."""
    try:
        if isinstance(value, str) and value[-1:].upper() in _UNITS:
            return positive(value[:-1]) * _UNITS[value[-1].upper()]
        return positive(value)
    except ValueError as error:
        raise ValueError("a number of bytes, 1 or more, such as 500000, 64K, 16M or 2G") from error


def size_or_none(value: object) -> int:
    """As `size_of`, but 0 is allowed."""
    return 0 if value in (0, "0") else size_of(value)


def some_seconds(value: object) -> float:
    number = seconds(value)
    if not number:
        raise ValueError("a number of seconds above 0")
    return number


def flag(value: object) -> bool:
    known = value if isinstance(value, bool) else _TRUTH.get(str(value).lower())
    if known is None:
        raise ValueError("true or false")
    return known


def text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("a text")
    return value


def http_address(value: object) -> str:
    if not isinstance(value, str) or not value.startswith(("http://", "https://")):
        raise ValueError("an address that starts with http:// or https://")
    return value


def absolute_iri(value: object) -> str:
    if not isinstance(value, str) or not ABSOLUTE_IRI.fullmatch(value):
        raise ValueError("an absolute IRI")
    return value


def texts(value: object) -> tuple[str, ...]:
    """A list, or a text with commas."""
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",")]
    if not isinstance(value, list | tuple):
        raise ValueError("a list of texts")  # noqa: TRY004 -- these functions raise only ValueError
    return tuple(text(part) for part in value if part)


def networks(value: object) -> tuple[str, ...]:
    """Networks; an address is a network of one address."""
    try:
        return tuple(str(ip_network(part)) for part in texts(value))
    except ValueError as error:
        raise ValueError(f"a list of addresses and networks: {error}") from error


def origins(value: object) -> tuple[str, ...]:
    """As browsers send them, in lower case and without a path."""
    found = tuple(part.lower().removesuffix("/") for part in texts(value))
    if not all(part == "*" or _ORIGIN.fullmatch(part) for part in found):
        raise ValueError("a list of origins, such as https://app.example.org, or *")
    return found


def one_of(*choices: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if value not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return str(value)

    return read


def setting(default: Any, reads: Callable[[object], Any], help_: str, shown: str = "") -> Any:
    return field(default=default, metadata={"reads": reads, "help": help_, "shown": shown})
