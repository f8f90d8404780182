"""Reads a mapping of settings as a typed value; its error names every mistake with its key."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from tidings.bench.targets.errors import BadTarget
from tidings.client.jsap.mistakes import shown
from tidings.model.likeness import nearest

HttpUrl: TypeAlias = Annotated[str, Meta(pattern=r"^https?://[^\s/]+")]
WsUrl: TypeAlias = Annotated[str, Meta(pattern=r"^wss?://[^\s/]+")]
AnyUrl: TypeAlias = Annotated[str, Meta(pattern=r"^(https?|wss?)://[^\s/]+")]
Seconds: TypeAlias = Annotated[float, Meta(gt=0)]
Count: TypeAlias = Annotated[int, Meta(ge=1)]
Words: TypeAlias = Annotated[list[str], Meta(min_length=1)]

S = TypeVar("S", bound=msgspec.Struct)

_WHERE = re.compile(r" - at `(?:\$|key in )?([^`]*)`$")
_PATTERNS = {
    "Expected `str` matching regex '^https?://[^\\\\s/]+'": "must be an address that starts with http:// or https://",
    "Expected `str` matching regex '^wss?://[^\\\\s/]+'": "must be an address that starts with ws:// or wss://",
    "Expected `str` matching regex '^(https?|wss?)://[^\\\\s/]+'": "must be an address that starts with http:// or ws://",
}


def read(kind: type[S], name: str, settings: Mapping[str, Any], under: str = "") -> S:
    """The settings of a target; `under` is the key above them. Raises BadTarget with every mistake."""
    known = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    mistakes = [_unknown(under + key, key, known) for key in settings if key not in known]
    values: dict[str, Any] = {}
    for key, field in known.items():
        if key not in settings:
            if field.required:
                mistakes.append(f"{under}{key}: is needed")
            continue
        try:
            values[field.name] = msgspec.convert(settings[key], field.type)
        except msgspec.ValidationError as error:
            mistakes.append(_explained(under + key, str(error), settings[key]))
    if mistakes:
        raise BadTarget(name, mistakes)
    return kind(**values)


def _unknown(path: str, key: str, known: Mapping[str, Any]) -> str:
    meant = nearest(key, known)
    hint = f"did you mean {meant}?" if meant else f"there are {', '.join(known)}"
    return f"{path}: there is no such key; {hint}"


def _explained(path: str, complaint: str, value: object) -> str:
    where = _WHERE.search(complaint)
    said = complaint[: where.start()] if where else complaint
    said = _PATTERNS.get(said) or said.replace("Expected", "must be").replace("`", "")
    said = said.partition(", got ")[0]
    return f"{path}{where[1] if where else ''}: {said}, not {shown(value)}"
