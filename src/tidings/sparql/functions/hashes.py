"""Hash functions (SPARQL 1.1, 17.4.6): of the UTF-8 form of a simple literal, in lower-case hexadecimal digits."""

import hashlib
from collections.abc import Callable

from tidings.model.terms import Term, literal
from tidings.sparql.values import Text, decode

ALGORITHMS = ("MD5", "SHA1", "SHA256", "SHA384", "SHA512")


def hash_function(algorithm: str) -> Callable[[Term], Term | None]:
    def digest(term: Term) -> Term | None:
        value = decode(term)
        if not isinstance(value, Text):
            return None
        data = value.text.encode(errors="replace")
        return literal(hashlib.new(algorithm.lower(), data, usedforsecurity=False).hexdigest())

    return digest
