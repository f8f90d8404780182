"""Blank node labels are local to one document; a scope keeps those of different documents apart.

    scope(label) = digest(key of the scope, label)

A label has the same new label throughout the document, without a table of labels, and one scope serves all parts of a
document that is read in parts.
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
        """A scope with a random key, for a new document."""
        return cls(secrets.token_bytes(16))

    def term(self, label: str) -> Term:
        if not self.key:
            return f"_:{label}"
        return f"_:b{blake2b(label.encode(), key=self.key, digest_size=12).hexdigest()}"

    def apart(self, term: Term | None) -> Term | None:
        """The new label of a blank node of the document; any other term as it is."""
        return self.term(term[2:]) if term and term[0] == "_" else term


KEEP_LABELS = BlankScope(b"")
"""For documents with the store's own labels, which are dumps of Tidings."""
