"""Replaces blank nodes by IRIs (RDF 1.1 Concepts, section 3.5), so that several requests can refer to one node.

    genid(label) = authority + "/.well-known/genid/b" + digest(content of the file, label)

In SPARQL Update, the scope of a label is one request. The same file always gives the same IRIs, so loading it again, or
resuming a load that was killed, adds no node twice; other files give other IRIs.
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
"""The random labels that parsers make for nodes without a label; a label of a document may look like one."""
_GENID = re.compile(r"<[a-z][a-z0-9+.-]*://[^/>]+/\.well-known/genid/([A-Za-z0-9_]+)>")


class Genids:
    """The IRIs for the blank nodes of one document, which is read with its own labels.

    The IRI of a node depends on its label; that of a node without a label on its number, which needs a table.
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
            self._key = self._make_key()  # reads the file once more, so only if it has blank nodes
        label = blank[2:]
        if _DRAWN.fullmatch(label):
            label = f"#{self._turns.setdefault(label, len(self._turns))}"
        return f"<{self._prefix}b{blake2b(label.encode(), key=self._key, digest_size=12).hexdigest()}>"


def content_key(path: Path) -> bytes:
    """A key from the content of a file: its digest. Raises FileTrouble."""
    digest = blake2b(digest_size=16)
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise FileTrouble(f"{path}: {error.strerror}") from error
    return digest.digest()


def fresh_key() -> bytes:
    """A random key, for input that cannot be read twice."""
    return secrets.token_bytes(16)


def unnamed(quad: Quad) -> Quad:
    """The quad with blank nodes in place of such IRIs: the inverse of `Genids`, except for the labels."""
    s, p, o, g = (_unnamed(term) for term in quad)
    return s, p, o, g


def _unnamed(term: Term) -> Term:
    found = _GENID.fullmatch(term) if PATH in term else None
    return f"_:{found[1]}" if found else term
