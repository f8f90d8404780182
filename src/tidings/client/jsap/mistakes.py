"""The mistakes in an application profile, reported all at once, each with its place.

TidingsError
└── BadRequest
    └── BadProfile       bad_profile       400   mistakes
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tidings.model.errors import BadRequest
from tidings.model.likeness import nearest

ROOT = "$"
_PLAIN = re.compile(r"[\w-]+")
_LONGEST = 80


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake, with its JSON path, and its file unless it is the profile itself."""

    path: str
    text: str
    file: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {self.path}: {self.text}" if self.file else f"{self.path}: {self.text}"


class BadProfile(BadRequest):
    """A profile has mistakes, or lacks what was looked up in it."""

    code = "bad_profile"

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(map(str, self.mistakes)))

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"mistakes": [str(mistake) for mistake in self.mistakes]}


class Mistakes:
    """Collects the mistakes found so far."""

    __slots__ = ("found",)

    def __init__(self) -> None:
        self.found: list[Mistake] = []

    def add(self, path: str, text: str) -> None:
        self.found.append(Mistake(path, text))

    def check(self, files: Mapping[str, str] | None = None) -> None:
        """Raise BadProfile if there are any; `files` has the included file of each path."""
        if self.found:
            raise BadProfile(replace(mistake, file=_file(mistake.path, files or {})) for mistake in self.found)

    def members(self, value: object, path: str, known: Iterable[str]) -> dict[str, Any]:
        """The members of an object. An unknown member is allowed as an extension, unless it resembles a known one."""
        found = self.mapping(value, path)
        known = tuple(known)
        for name in found:
            if name not in known and (meant := nearest(name, known, 0.75)):
                self.add(below(path, name), f'there is no such member; did you mean "{meant}"?')
        return found

    def mapping(self, value: object, path: str) -> dict[str, Any]:
        """The value as an object. If it is something else, adds a mistake, and returns an empty object."""
        if isinstance(value, dict):
            return value
        if value is not None:
            self.add(path, f"must be an object, not {shown(value)}")
        return {}

    def text(self, value: object, path: str) -> str | None:
        if isinstance(value, str):
            return value
        if value is not None:
            self.add(path, f"must be a string, not {shown(value)}")
        return None

    def texts(self, value: object, path: str) -> list[tuple[str, str]]:
        """The strings of a string or a list of strings, each with its path."""
        if not isinstance(value, list):
            one = self.text(value, path)
            return [] if one is None else [(path, one)]
        paths = [f"{path}[{number}]" for number in range(len(value))]
        return [(at, item) for at, item in zip(paths, value, strict=True) if self.text(item, at) is not None]


def below(path: str, name: str) -> str:
    """The JSON path of a member of the object at a path."""
    return f"{path}.{name}" if _PLAIN.fullmatch(name) else f"{path}[{json.dumps(name, ensure_ascii=False)}]"


def shown(value: object) -> str:
    """A value as JSON, cut short."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _file(path: str, files: Mapping[str, str]) -> str:
    """The file of a path, or of its nearest ancestor with a known file."""
    while path:
        if path in files:
            return files[path]
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return ""
