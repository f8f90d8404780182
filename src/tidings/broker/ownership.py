"""Whose a subscription or a delayed update is, and what its owner may still do.

An owner is a subject: whoever authenticates clients says which. Where nobody does, nothing has an owner, and a
subscription belongs to the connection that has it.
"""

from collections.abc import Callable
from typing import TypeAlias

from tidings.model.access import ALL_RIGHTS, Rights

RightsOf: TypeAlias = Callable[[str | None], Rights]
"""What a subject may do at this moment; None is whoever has not said who they are."""


def everything(_: str | None) -> Rights:
    """Where nobody is asked who they are."""
    return ALL_RIGHTS


class Ownership:
    """Asks for the rights of owners when these matter later than the request that brought them."""

    __slots__ = ("rights_of",)

    def __init__(self, rights_of: RightsOf = everything) -> None:
        self.rights_of = rights_of

    def still(self, owner: str | None, rights: Rights) -> Rights:
        """What of the rights that a request came with its sender has at this moment."""
        current = self.rights_of(owner)
        return rights if current is ALL_RIGHTS else rights & current


def may_manage(owner: str | None, asker: str | None, rights: Rights) -> bool:
    """Whether somebody may see whose something is, and what it is."""
    return rights.administer or (owner is not None and owner == asker)


def is_anothers(owner: str | None, asker: str | None, rights: Rights) -> bool:
    """Whether something has an owner, who is not the asker, and the asker is no administrator."""
    return owner is not None and owner != asker and not rights.administer
