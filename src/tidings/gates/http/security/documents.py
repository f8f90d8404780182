"""Reads the JSON documents that administrators send. It is strict: an unknown member is an error.

{"client_id": "lamp-7", "roles": ["lamps"], "scopes": ["read"]}      a client
{"roles": […], "scopes": […]}                                        new roles and scopes of a client
{"grants": [{"to": "role:lamps", "update": […]}]}                    grants, as in the file of security
"""

from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request

from tidings.gates.http.limits import read_body
from tidings.model.errors import BadRequest, UnsupportedFormat
from tidings.security.policy.grants import Grant, read_grants

LONGEST_CLIENT = 65_536
LONGEST_GRANTS = 1 << 20
JSON = "application/json"
S = TypeVar("S", bound=Struct)
Name = Annotated[str, Meta(pattern=r"^[!#-\[\]-~]{1,128}\Z")]
"""Names of scopes (RFC 6749, section 3.3) and roles."""
Names = Annotated[frozenset[Name], Meta(max_length=100)]


class Enrolment(Struct, frozen=True, forbid_unknown_fields=True):
    client_id: str
    roles: Names = frozenset()
    scopes: Names = frozenset()


class Assignment(Struct, frozen=True, forbid_unknown_fields=True):
    roles: Names
    scopes: Names


class _Granting(Struct, frozen=True, forbid_unknown_fields=True):
    grants: list[Any]


async def read_client(request: Request, kind: type[S]) -> S:
    """Raises BadRequest, UnsupportedFormat, BodyTooLarge."""
    return _read(await _body(request, LONGEST_CLIENT), kind)


async def read_granting(request: Request) -> tuple[Grant, ...]:
    """Raises as `read_client`, and BadPolicy with the place of the mistake."""
    return read_grants(_read(await _body(request, LONGEST_GRANTS), _Granting).grants, "grants")


async def _body(request: Request, most: int) -> bytes:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        raise UnsupportedFormat(f"the Content-Type must be {JSON}")
    return await read_body(request, most)


def _read(body: bytes, kind: type[S]) -> S:
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        raise BadRequest(f"the body is not as it should be: {str(error).replace('`$.', '`')}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"the body is not JSON: {error}") from error
