"""Parses requirements as in the metadata of this package, and tests whether a version meets one.

    NAME [EXTRA,…] OP VERSION, …; extra == 'NAME'        OP is >=, < or ==

That is as much of the dependency specifiers (PEP 508) and of the order of versions (PEP 440) as it takes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

Key: TypeAlias = tuple[Any, ...]

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9](?:[\w.-]*\w)?)\s*(?:\[[^]]*\])?\s*([^;]*?)\s*(?:;\s*(.*?)\s*)?")
_CLAUSE = re.compile(r"\s*(>=|<|==)\s*([\w.!+]+)\s*")
_EXTRA = re.compile(r"""extra\s*==\s*["']([\w-]+)["']""")
_VERSION = re.compile(
    r"(?:(\d+)!)?(\d+(?:\.\d+)*)(?:(a|b|rc)(\d+))?(?:\.post(\d+))?(?:\.dev(\d+))?(?:\+[\w.]+)?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A package, the range of its version, and the extra that requires it, if any."""

    name: str
    clauses: tuple[tuple[str, str], ...]
    extra: str = ""

    def allows(self, version: str) -> bool:
        """Whether a version is in the range; False if the version cannot be parsed."""
        return _VERSION.fullmatch(version) is not None and all(
            _HOLDS[operator](version, bound) for operator, bound in self.clauses
        )

    @property
    def range(self) -> str:
        """The range in pip's notation, with the lower bound first."""
        return ",".join(operator + bound for operator, bound in sorted(self.clauses, reverse=True))

    def __str__(self) -> str:
        return f"{self.name}{self.range}"


def read_requirement(text: str) -> Requirement:
    """Parse a requirement. Raises ValueError for syntax that the metadata of this package does not use."""
    whole = _REQUIREMENT.fullmatch(text)
    extra = _EXTRA.fullmatch(whole[3]) if whole and whole[3] else None
    clauses = [_CLAUSE.fullmatch(part) for part in whole[2].split(",")] if whole and whole[2] else []
    if whole is None or (whole[3] and extra is None) or not all(clauses):
        raise ValueError(f"not a requirement that can be read: {text!r}")
    return Requirement(whole[1], tuple((each[1], each[2]) for each in clauses if each), extra[1] if extra else "")


def key(version: str) -> Key:
    """A sort key for versions. Raises ValueError."""
    found = _VERSION.fullmatch(version)
    if found is None:
        raise ValueError(f"not a version: {version!r}")
    epoch, release, kind, number, post, dev = found.groups()
    if kind is None:
        # 1.dev1 < 1a1 < 1b1 < 1rc1 < 1 < 1.post1
        before: tuple[str, int] = ("", 0) if dev and not post else ("z", 0)
    else:
        before = kind, int(number)
    return int(epoch or 0), _trimmed(release), before, _number(post, -1), _number(dev, float("inf"))


def _trimmed(release: str) -> tuple[int, ...]:
    """The numbers of a release without trailing zeros: 1.0 equals 1."""
    parts = [int(part) for part in release.split(".")]
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts)


def _number(text: str | None, otherwise: float) -> float:
    return otherwise if text is None else int(text)


def _below(version: str, bound: str) -> bool:
    """Whether `version < bound`, which excludes pre-releases of the bound."""
    ours, theirs = key(version), key(bound)
    return ours < theirs and not (ours[:2] == theirs[:2] and ours[2] < theirs[2] == ("z", 0))


_HOLDS: dict[str, Callable[[str, str], bool]] = {
    ">=": lambda version, bound: key(version) >= key(bound),
    "<": _below,
    "==": lambda version, bound: key(version) == key(bound),
}
