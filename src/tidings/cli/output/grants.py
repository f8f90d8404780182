"""Formats grants for people: a row for each, with its name at the broker."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_HEAD = ("name", "to", "query", "update", "subscribe", "administer")


def grant_rows(parts: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[Sequence[str], Iterator[Sequence[str]]]:
    """The head and the rows of a list."""
    return _HEAD, (_row(name, grant) for name, grants in parts.items() for grant in grants)


def _row(name: str, grant: Mapping[str, Any]) -> Sequence[str]:
    graphs = (" ".join(grant.get(member, ())) or "-" for member in ("query", "update", "subscribe"))
    return name, grant["to"], *graphs, "yes" if grant.get("administer") else "-"
