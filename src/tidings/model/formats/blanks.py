"""Blank node labels mean something within one document only; a scope keeps those of different documents apart.

    scope(label) = digest(key of the scope, label)

A label gets the same new label wherever it stands in the document, without a table of the labels seen, and a document
that is read in parts can be read with one scope.
"""

import secrets
from dataclasses import dataclass
from hashlib import blake2b

from tidings.model.terms import Term


@dataclass(frozen=True, slots=True)
class BlankScope:
    """Turns labels of one document into labels of the store; an empty key keeps them as they are."""

    key: bytes

    @classmethod
    def fresh(cls) -> "BlankScope":
        """A scope that no other document has."""
        return cls(secrets.token_bytes(16))

    def term(self, label: str) -> Term:
        if not self.key:
            return f"_:{label}"
        return f"_:b{blake2b(label.encode(), key=self.key, digest_size=12).hexdigest()}"

    def apart(self, term: Term | None) -> Term | None:
        """A term as it is, unless it is a blank node of the document."""
        return self.term(term[2:]) if term and term[0] == "_" else term


KEEP_LABELS = BlankScope(b"")
"""For documents whose labels are the store's own: our dumps."""
