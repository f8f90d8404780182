"""The owner of a subscription or of a delayed update, and the rights that the owner has now.

An owner is the subject of a client's token. With security off, nothing has an owner, and a subscription belongs to the
connection that has it.
"""

from collections.abc import Callable
from typing import TypeAlias

from tidings.model.access import ALL_RIGHTS, Rights

RightsOf: TypeAlias = Callable[[str | None], Rights]
"""The rights of a subject at this moment; None stands for clients without a token."""


def everything(_: str | None) -> Rights:
    """The rights of every client with security off."""
    return ALL_RIGHTS


class Ownership:
    """Looks up the rights of an owner for work that is done later than the request for it."""

    __slots__ = ("rights_of",)

    def __init__(self, rights_of: RightsOf = everything) -> None:
        self.rights_of = rights_of

    def still(self, owner: str | None, rights: Rights) -> Rights:
        """Those of the rights of a request that its sender still has."""
        current = self.rights_of(owner)
        return rights if current is ALL_RIGHTS else rights & current


def may_manage(owner: str | None, asker: str | None, rights: Rights) -> bool:
    """Whether the asker may see a subscription or a delayed update and its owner."""
    return rights.administer or (owner is not None and owner == asker)


def is_anothers(owner: str | None, asker: str | None, rights: Rights) -> bool:
    """Whether there is an owner other than the asker, and the asker is no administrator."""
    return owner is not None and owner != asker and not rights.administer
