"""The policy in force. It consists of named parts: one for the file, and others for grants made at run time.

    policy_set   source (file, or the name of another part), grants: all grants of this part; none if it was removed

A part is replaced as a whole, so a change takes effect in full or not at all.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct

from tidings.model.access import Rights
from tidings.model.errors import BadRequest
from tidings.protocol.entries import Note
from tidings.security.errors import BadPolicy, SetByFile
from tidings.security.ledger import Ledger
from tidings.security.passport import Passport
from tidings.security.policy.grants import MOST_GRANTS, Grant, read_grants
from tidings.security.policy.policy import Policy

FILE = "file"
MOST_PARTS = 1_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~-]{0,63}")


class _Part(Struct):
    source: str
    grants: list[dict[str, Any]]


class Policies:
    """Remembers all parts; `changed` is called when another policy holds."""

    KINDS = ("policy_set",)

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._parts: dict[str, tuple[Grant, ...]] = {FILE: ()}
        self._changing = asyncio.Lock()
        self.policy = Policy()
        self.changed: Callable[[], None] = lambda: None

    def rights_of(self, passport: Passport) -> Rights:
        return self.policy.rights_of(passport)

    @property
    def parts(self) -> Mapping[str, tuple[Grant, ...]]:
        """All of them by their names; that of the file, which may be empty, comes first."""
        return MappingProxyType(self._parts)

    async def replace(self, part: str, grants: tuple[Grant, ...]) -> None:
        """Have a part say this from now on. Writes nothing if it does already. Raises BadPolicy, or that the fact
        cannot be written."""
        async with self._changing:
            self._check(part, grants)
            if grants != self._parts.get(part, ()):
                await self._ledger.write(_note(part, grants))

    def _check(self, part: str, grants: tuple[Grant, ...]) -> None:
        others = {name: each for name, each in self._parts.items() if name not in (part, FILE)}
        if part != FILE and grants and len(others) >= MOST_PARTS:
            raise BadPolicy(f"there are grants under {MOST_PARTS:,} names, the limit")
        if len(grants) + (0 if part == FILE else sum(map(len, others.values()))) > MOST_GRANTS:
            raise BadPolicy(f"more than {MOST_GRANTS:,} grants")
        for grant in grants:
            grant.check()

    # -- the ledger ---------------------------------------------------------------------------------------------

    def restore(self, note: Note) -> None:
        part = msgspec.convert(note.content, _Part)
        grants = read_grants(part.grants)
        if grants or part.source == FILE:
            self._parts[part.source] = grants
        else:
            self._parts.pop(part.source, None)
        self.policy = Policy(tuple(grant for each in self._parts.values() for grant in each))
        self.changed()

    def notes(self) -> Iterable[Note]:
        return [_note(part, grants) for part, grants in self._parts.items() if grants]


def part_name(text: str) -> str:
    """The name of a part that can be changed while running. Raises BadRequest, SetByFile."""
    if text == FILE:
        raise SetByFile("the grants of the file are changed in the file, which the broker reads again by itself")
    if not _NAME.fullmatch(text):
        raise BadRequest("the name of grants has 1 to 64 of the characters A-Z a-z 0-9 . _ ~ - and begins with one of"
                         " the letters or digits")  # fmt: skip
    return text


def _note(part: str, grants: tuple[Grant, ...]) -> Note:
    return Note("policy_set", {"source": part, "grants": [msgspec.to_builtins(grant) for grant in grants]})
