"""CoAP requests and answers as values, and the meaning of their payloads.

A request has its SPARQL in the query of its URI (`?query=…`), or as its payload: plain text, or an object in JSON or
CBOR with the members of the Subscribe language. An answer is in JSON, or in CBOR if that is asked for. An error is a
code with a diagnostic payload: the stable code of the error, and what was wrong.
"""

import cbor2
import msgspec
import orjson
from msgspec import Struct

from tidings.model.errors import BadRequest, NotAcceptable, TidingsError, UnsupportedFormat
from tidings.protocol.echo import Alias
from tidings.protocol.instants import Due, read_due
from tidings.protocol.messages import Graphs

TEXT, LINKS, JSON, CBOR = 0, 40, 50, 60
"""Content formats (RFC 7252, section 12.3)."""
CONTENT, CHANGED = (2, 5), (2, 4)

Code = tuple[int, int]
_CODES: dict[int, Code] = {
    400: (4, 0), 401: (4, 1), 403: (4, 3), 404: (4, 4), 405: (4, 5), 406: (4, 6), 408: (4, 8), 409: (4, 9),
    413: (4, 13), 415: (4, 15), 429: (4, 29), 500: (5, 0), 501: (5, 1), 502: (5, 2), 503: (5, 3), 504: (5, 4),
}  # fmt: skip
_MOST_SAID = 1_000
"""Bytes of a diagnostic payload, which is UTF-8."""
_Names = str | list[str] | None


class Asked(Struct, frozen=True):
    """A request, as far as it says what it wants."""

    payload: bytes = b""
    format: int | None = None
    accept: int | None = None
    queries: tuple[str, ...] = ()
    """The parts of the query of its URI."""
    where: str = ""
    """The address that it came from."""


class Answer(Struct, frozen=True):
    """`code` is the class and the detail: (2, 5) is 2.05."""

    code: Code
    payload: bytes = b""
    format: int | None = None


class Members(Struct, frozen=True, rename={"default": "default-graph-uri", "named": "named-graph-uri"}):
    """What a request says."""

    sparql: str | None = None
    default: _Names = None
    named: _Names = None
    alias: Alias = None
    authorization: str | None = None
    at: str | int | None = None
    delay: str | float | None = None

    @property
    def graphs(self) -> Graphs:
        return Graphs(_names(self.default), _names(self.named))

    @property
    def text(self) -> str:
        """Raises BadRequest."""
        if not self.sparql:
            raise BadRequest("the SPARQL is missing: as the payload, or as ?query= in the URI")
        return self.sparql

    @property
    def due(self) -> Due | None:
        """When an update is to be carried out, if not at once. Raises BadRequest."""
        return read_due(self.at, self.delay)

    def check(self, base: str) -> None:
        """Raises BadRequest if something is missing, or is none: an IRI, a time."""
        _ = self.text, self.graphs.dataset(base), self.due


def read(asked: Asked) -> Members:
    """What a request says. Raises BadRequest, UnsupportedFormat."""
    if not asked.payload:
        return _of_uri(asked.queries)
    try:
        match asked.format:
            case None | 0:
                return Members(sparql=asked.payload.decode())
            case 50:
                return msgspec.json.decode(asked.payload, type=Members)
            case 60:
                return msgspec.convert(cbor2.loads(asked.payload), Members)
    except Exception as error:  # the reader of CBOR raises all sorts of things
        raise BadRequest(f"the payload cannot be read: {error}") from error
    raise UnsupportedFormat(f"there is no reader for content format {asked.format}; 0, 50 and 60 are known")


def _of_uri(queries: tuple[str, ...]) -> Members:
    values: dict[str, list[str]] = {}
    for part in queries:
        name, _, value = part.partition("=")
        values.setdefault(name, []).append(value)
    text = values.get("query") or values.get("sparql") or values.get("update")
    return Members(
        sparql=None if text is None else "".join(text),  # an option has at most 255 bytes: a long text is several
        default=values.get("default-graph-uri"),
        named=values.get("named-graph-uri"),
        alias=next(iter(values.get("alias", ())), None),
    )


def written(document: bytes, accept: int | None, code: Code = CONTENT) -> Answer:
    """A JSON document as it was asked for. Raises NotAcceptable."""
    match accept:
        case None | 50:
            return Answer(code, document, JSON)
        case 60:
            return Answer(code, cbor2.dumps(orjson.loads(document)), CBOR)
        case other:
            raise NotAcceptable(f"there are answers in JSON (50) and CBOR (60), not in content format {other}")


def refusal(error: TidingsError) -> Answer:
    """An error, with a diagnostic payload (RFC 7252, section 5.5.2)."""
    code = _CODES.get(error.status) or ((4, 0) if error.status < 500 else (5, 0))
    said = f"{error.code}: {error}".encode()[:_MOST_SAID]
    return Answer(code, said.decode(errors="ignore").encode())  # not the first half of a character


def _names(given: _Names) -> tuple[str, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)
