"""The policy that holds now. It has two parts: what the file says, and what was granted while the broker was running.

    policy_set   source (file, running), grants: all of that part

A part is replaced as a whole, so that a change holds in full or not at all.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from tidings.model.access import Rights
from tidings.protocol.entries import Note
from tidings.security.errors import BadPolicy
from tidings.security.ledger import Ledger
from tidings.security.passport import Passport
from tidings.security.policy.grants import MOST_GRANTS, Grant, read_grants
from tidings.security.policy.policy import Policy

Source = Literal["file", "running"]


class _Part(Struct):
    source: Source
    grants: list[dict[str, Any]]


class Policies:
    """Remembers both parts; `changed` is called when another policy holds."""

    KINDS = ("policy_set",)

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._parts: dict[Source, tuple[Grant, ...]] = {"file": (), "running": ()}
        self._changing = asyncio.Lock()
        self.policy = Policy()
        self.changed: Callable[[], None] = lambda: None

    def rights_of(self, passport: Passport) -> Rights:
        return self.policy.rights_of(passport)

    def part(self, source: Source) -> tuple[Grant, ...]:
        return self._parts[source]

    async def replace(self, source: Source, grants: tuple[Grant, ...]) -> None:
        """Have a part say this from now on. Writes nothing if it does already."""
        async with self._changing:
            await self._replace(source, grants)

    async def grant(self, grant: Grant) -> None:
        """Raises BadPolicy."""
        async with self._changing:
            others = tuple(each for each in self._parts["running"] if each != grant)
            await self._replace("running", (*others, grant))

    async def withdraw(self, grant: Grant) -> None:
        """Raises BadPolicy if it was not granted while running: what the file says is changed in the file."""
        async with self._changing:
            others = tuple(each for each in self._parts["running"] if each != grant)
            if len(others) == len(self._parts["running"]):
                where = (
                    "the file says so, and has to be changed" if grant in self._parts["file"] else "there is no such"
                )
                raise BadPolicy(f"the grant to {grant.to} cannot be withdrawn: {where}")
            await self._replace("running", others)

    async def _replace(self, source: Source, grants: tuple[Grant, ...]) -> None:
        if len(grants) > MOST_GRANTS:
            raise BadPolicy(f"more than {MOST_GRANTS:,} grants")
        for grant in grants:
            grant.check()
        if grants != self._parts[source]:
            await self._ledger.write(_note(source, grants))

    # -- the ledger ---------------------------------------------------------------------------------------------

    def restore(self, note: Note) -> None:
        part = msgspec.convert(note.content, _Part)
        self._parts[part.source] = read_grants(part.grants)
        self.policy = Policy(self._parts["file"] + self._parts["running"])
        self.changed()

    def notes(self) -> Iterable[Note]:
        return [_note(source, grants) for source, grants in self._parts.items() if grants]


def _note(source: Source, grants: tuple[Grant, ...]) -> Note:
    return Note("policy_set", {"source": source, "grants": [msgspec.to_builtins(grant) for grant in grants]})
