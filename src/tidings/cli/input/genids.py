"""IRIs in the places of blank nodes (RDF 1.1 Concepts, section 3.5), so that many requests can speak of one node.

    genid(label) = authority + "/.well-known/genid/b" + digest(content of the file, label)

Within SPARQL Update a label means a node of one request only. The same file gives the same IRIs whenever it is loaded,
so loading it again, or going on with a load that was killed, changes nothing that is there; other files give others.
"""

import re
import secrets
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from urllib.parse import urljoin

from tidings.model.terms import Quad, Term
from tidings.server.files import FileTrouble

PATH = "/.well-known/genid/"
_CHUNK = 1 << 20
_DRAWN = re.compile(r"[0-9a-f]{1,32}")
"""What the parsers draw at random for a node without a label; a label of a document may look like it."""
_GENID = re.compile(r"<[a-z][a-z0-9+.-]*://[^/>]+/\.well-known/genid/([A-Za-z0-9_]+)>")


class Genids:
    """Names for the blank nodes of one document, read with the labels that it has.

    Nodes without a label are known by their turn, which takes a table; others by their label.
    """

    def __init__(self, base: str, key: Callable[[], bytes]) -> None:
        self._prefix = urljoin(base, PATH)
        self._make_key = key
        self._key = b""
        self._turns: dict[str, int] = {}

    def __call__(self, quads: Iterator[Quad]) -> Iterator[Quad]:
        """The same quads without blank nodes."""
        name = self.name
        for s, p, o, g in quads:
            yield (
                name(s) if s[0] == "_" else s,
                p,
                name(o) if o[0] == "_" else o,
                name(g) if g and g[0] == "_" else g,
            )

    def name(self, blank: Term) -> Term:
        if not self._key:
            self._key = self._make_key()  # only who has blank nodes has to read a file twice
        label = blank[2:]
        if _DRAWN.fullmatch(label):
            label = f"#{self._turns.setdefault(label, len(self._turns))}"
        return f"<{self._prefix}b{blake2b(label.encode(), key=self._key, digest_size=12).hexdigest()}>"


def content_key(path: Path) -> bytes:
    """What the content of a file makes different. Raises FileTrouble."""
    digest = blake2b(digest_size=16)
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise FileTrouble(f"{path}: {error.strerror}") from error
    return digest.digest()


def fresh_key() -> bytes:
    """For what cannot be read twice."""
    return secrets.token_bytes(16)


def unnamed(quad: Quad) -> Quad:
    """The quad with blank nodes for such IRIs; the inverse of `Genids` but for the labels."""
    s, p, o, g = (_unnamed(term) for term in quad)
    return s, p, o, g


def _unnamed(term: Term) -> Term:
    found = _GENID.fullmatch(term) if PATH in term else None
    return f"_:{found[1]}" if found else term
