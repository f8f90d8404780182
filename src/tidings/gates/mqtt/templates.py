"""Texts with names in braces, as in `city/{area}/lamp/{lamp}`: filled in with values, or found in a text.

Two braces of a kind mean one of them. A name may be a path into a JSON document: `{payload.state.power}`.
"""

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from tidings.model.errors import BadRequest

_PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[^{}]+|[{}]")


class Name(Struct, frozen=True):
    """A place to be filled in."""

    name: str


class Template(Struct, frozen=True):
    """The parts of a text."""

    parts: tuple[str | Name, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.parts if isinstance(part, Name))

    @property
    def alone(self) -> str | None:
        """The name of a template that is nothing else."""
        return self.names[0] if len(self.parts) == len(self.names) == 1 else None

    def fill(self, value: Callable[[str], str]) -> str:
        """The text with a value for each name. Raises what `value` raises."""
        return "".join(part if isinstance(part, str) else value(part.name) for part in self.parts)

    def pattern(self, anything: str = "(.*)") -> "re.Pattern[str]":
        """Finds the values again, one group a name."""
        return re.compile("".join(re.escape(part) if isinstance(part, str) else anything for part in self.parts), re.S)


def read_template(text: str) -> Template:
    """Raises BadRequest."""
    parts: list[str | Name] = []
    for found in _PART.finditer(text):
        piece, name = found[0], found[1]
        if name is not None:
            if not name.strip():
                raise BadRequest(f"there is a name missing between the braces of {text[:100]!r}")
            parts.append(Name(name.strip()))
        elif piece in {"{", "}"}:
            raise BadRequest(f"a brace of {text[:100]!r} has no other; two of a kind mean one")
        else:
            parts.append(piece[0] if piece in {"{{", "}}"} else piece)
    return Template(tuple(parts))


def look_up(document: Any, path: str) -> Any:
    """What a JSON document has at a path of members and numbers of items; None if it has nothing there."""
    for step in path.split("."):
        if isinstance(document, dict):
            document = document.get(step)
        elif isinstance(document, list) and step.isdecimal() and int(step) < len(document):
            document = document[int(step)]
        else:
            return None
    return document
