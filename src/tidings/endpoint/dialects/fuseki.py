"""Apache Jena Fuseki: updates can name a blank node, as `<_:label>`; N-Triples encode the label."""

import re

from tidings.endpoint.dialects.dialect import Dialect
from tidings.model.terms import Term

_ENCODED = re.compile(r"X([0-9A-F]{2})")


def address(label: str) -> Term | None:
    """`_:BxX3Ay` in N-Triples is `<_:x:y>`: B, then the label, with special characters as X and two hex digits."""
    if label[:1] != "B":
        return None
    plain = _ENCODED.sub(lambda found: chr(int(found[1], 16)), label[1:].replace("XX", "X58"))
    return f"<_:{plain}>"


FUSEKI = Dialect("fuseki", signature="fuseki", request_bytes=16 << 20, asked=1_000, tests=True, address=address)
