"""What is asked of the authorisation server: bytes and headers to values, in both dialects.

JSON    {"register": {"client_identity": …, "grant_types": ["client_credentials"]}}; for a token, any body and
        Authorization: Basic. What else is in the body is left alone: one client puts its own insides there.
form    RFC 6749: grant_type=client_credentials&scope=…, with client_secret_basic or client_secret_post
"""

from base64 import b64decode
from binascii import Error as NotBase64
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

import msgspec
from msgspec import Struct

from tidings.security.errors import (
    AcceptError,
    ContentTypeError,
    GrantTypeRefused,
    InvalidClient,
    MalformedRequest,
    NoCredentials,
    UnauthorizedClient,
    UnknownGrantType,
)

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
GRANT = "client_credentials"
LONGEST_BODY = 65_536
"""Bytes. One client sends its whole configuration along."""


class OAuthRequest(Struct, frozen=True):
    """A request to the authorisation server, as it came in."""

    body: bytes = b""
    content_type: str = ""
    accept: str = ""
    authorization: str | None = None
    address: str = ""


class Login(Struct, frozen=True):
    """Who a client says it is. `standard`: it is to be answered as RFC 6749 says."""

    client: str
    secret: str
    standard: bool

    def __repr__(self) -> str:
        return f"Login({self.client!r})"


class TokenRequest(Struct, frozen=True):
    login: Login
    scopes: frozenset[str] | None = None
    """None for all that the client has."""


class Revocation(Struct, frozen=True):
    login: Login
    token: str

    def __repr__(self) -> str:
        return f"Revocation({self.login!r})"


def read_registration(request: OAuthRequest) -> object:
    """The identity that wants to be registered, be it one or not. Raises what is wrong."""
    if _media(request.content_type) != JSON:
        raise ContentTypeError(f"the Content-Type must be {JSON}")
    _check_accept(request.accept)
    try:
        content = msgspec.json.decode(request.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedRequest("the body is not JSON") from error
    wanted = content.get("register") if isinstance(content, dict) else None
    if not isinstance(wanted, dict):
        raise MalformedRequest('the body must be {"register": {"client_identity": …, "grant_types": …}}')
    kinds: Any = wanted.get("grant_types")
    if GRANT not in (kinds if isinstance(kinds, list) else [kinds]):
        raise GrantTypeRefused(f"`grant_types` must have {GRANT}, the only one that there is")
    return wanted.get("client_identity")


def read_token_request(request: OAuthRequest) -> TokenRequest:
    """Who wants a token. Raises what is wrong."""
    media = _media(request.content_type)
    if media == FORM and request.body.strip():
        form = _form(request.body)
        if form.get("grant_type") != GRANT:
            if "grant_type" not in form:
                raise MalformedRequest("the form has no `grant_type`")
            raise UnknownGrantType(f"the `grant_type` must be {GRANT}, the only one that there is")
        scopes = frozenset(form["scope"].split()) if "scope" in form else None
        return TokenRequest(_login(request, form), scopes)
    if media not in ("", JSON, FORM):
        raise ContentTypeError(f"the Content-Type must be {JSON} or {FORM}")
    _check_accept(request.accept)
    if request.authorization is None:
        raise NoCredentials("there is no Authorization header with the client's id and secret")
    basic = _basic(request.authorization)
    if basic is None:
        raise UnauthorizedClient("the Authorization header is not Basic, with the client's id and secret in Base64")
    return TokenRequest(Login(*basic, standard=False))


def read_revocation(request: OAuthRequest) -> Revocation:
    """Which token a client gives up. Raises what is wrong."""
    if _media(request.content_type) != FORM:
        raise ContentTypeError(f"the Content-Type must be {FORM}")
    form = _form(request.body)
    if not form.get("token"):
        raise MalformedRequest("the form has no `token`")
    return Revocation(_login(request, form), form["token"])


def _login(request: OAuthRequest, form: dict[str, str]) -> Login:
    """RFC 6749, section 2.3.1. Raises InvalidClient, MalformedRequest."""
    if request.authorization is None:
        if "client_id" not in form or "client_secret" not in form:
            raise InvalidClient("neither an Authorization header nor the form has the client's id and secret")
        return Login(form["client_id"], form["client_secret"], standard=True)
    if "client_secret" in form:
        raise MalformedRequest("the client's secret is both in the header and in the form")
    basic = _basic(request.authorization)
    if basic is None:
        raise InvalidClient("the Authorization header is not Basic, with the client's id and secret in Base64")
    return Login(*basic, standard=True)


def _basic(header: str) -> tuple[str, str] | None:
    """Id and secret. Standard clients encode both as a form does; ours have no character that this would change."""
    scheme, _, encoded = header.strip().partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, colon, secret = b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (NotBase64, ValueError):
        return None
    return (unquote_plus(name), unquote_plus(secret)) if colon else None


def _form(body: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(
            body.decode(), keep_blank_values=True, strict_parsing=True, errors="strict", max_num_fields=50
        )
    except ValueError as error:
        raise MalformedRequest("the body is not a form") from error
    form = dict(pairs)
    if len(form) != len(pairs):
        raise MalformedRequest("a parameter of the form comes twice")
    return form


def _media(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _check_accept(accept: str) -> None:
    kinds = {_media(part) for part in accept.split(",")} - {""}
    if kinds and not kinds & {JSON, "application/*", "*/*"}:
        raise AcceptError(f"the Accept header must have {JSON}")
