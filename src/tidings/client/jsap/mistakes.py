"""What is wrong with an application profile: every mistake with its place, all of them at once.

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
    """One thing that is wrong, and where: the JSON path, and the file unless it is the one that was asked for."""

    path: str
    text: str
    file: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {self.path}: {self.text}" if self.file else f"{self.path}: {self.text}"


class BadProfile(BadRequest):
    """A profile that cannot be used as it is, or was asked for what it does not have."""

    code = "bad_profile"

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(map(str, self.mistakes)))

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"mistakes": [str(mistake) for mistake in self.mistakes]}


class Mistakes:
    """Those found so far."""

    __slots__ = ("found",)

    def __init__(self) -> None:
        self.found: list[Mistake] = []

    def add(self, path: str, text: str) -> None:
        self.found.append(Mistake(path, text))

    def check(self, files: Mapping[str, str] | None = None) -> None:
        """Raise BadProfile if there are any; `files` says which paths came from included files."""
        if self.found:
            raise BadProfile(replace(mistake, file=_file(mistake.path, files or {})) for mistake in self.found)

    def members(self, value: object, path: str, known: Iterable[str]) -> dict[str, Any]:
        """The members of an object. Unknown ones may be extensions, unless they look like a known one misspelt."""
        found = self.mapping(value, path)
        known = tuple(known)
        for name in found:
            if name not in known and (meant := nearest(name, known, 0.75)):
                self.add(below(path, name), f'there is no such member; did you mean "{meant}"?')
        return found

    def mapping(self, value: object, path: str) -> dict[str, Any]:
        """An object; an empty one, and a mistake, if it is something else."""
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
        """A string or a list of them, each with its path."""
        if not isinstance(value, list):
            one = self.text(value, path)
            return [] if one is None else [(path, one)]
        paths = [f"{path}[{number}]" for number in range(len(value))]
        return [(at, item) for at, item in zip(paths, value, strict=True) if self.text(item, at) is not None]


def below(path: str, name: str) -> str:
    """The path of a member."""
    return f"{path}.{name}" if _PLAIN.fullmatch(name) else f"{path}[{json.dumps(name, ensure_ascii=False)}]"


def shown(value: object) -> str:
    """A value as JSON, cut short."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _file(path: str, files: Mapping[str, str]) -> str:
    """The file of the longest path that leads to this one."""
    while path:
        if path in files:
            return files[path]
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return ""
