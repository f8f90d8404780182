"""The authorisation server: what is asked for, to answers; whoever has the socket sends them.

    POST /oauth/register                           a new client, with its secret and the key that tokens are signed with
    POST /oauth/token                              a token, in the two forms that clients read
    POST /oauth/revoke                             a token counts no more
    GET  /oauth/jwks                               the public keys
    GET  /.well-known/oauth-authorization-server   where all of this is

Attempts are limited by address and by client before anything is worked out. Ids that nobody has share the limit of
their address: they cannot be used to fill the memory, nor to have the limit of somebody else forgotten.
"""

from typing import Any

from msgspec import Struct

from tidings.model.errors import TidingsError
from tidings.security.audit import Audit, Event
from tidings.security.clients.client import Client
from tidings.security.clients.credentials import Credentials
from tidings.security.errors import (
    InvalidClient,
    InvalidGrant,
    InvalidRequest,
    InvalidScope,
    TooManyAttempts,
    UnauthorizedClient,
)
from tidings.security.keys.key_ring import KeyRing
from tidings.security.ledger import Ledger
from tidings.security.limits import Limiter, neighbourhood
from tidings.security.oauth.requests import (
    Login,
    OAuthRequest,
    read_registration,
    read_revocation,
    read_token_request,
)
from tidings.security.tokens.issuing import Issued, OwnIssuer
from tidings.security.tokens.revocation import Revocations
from tidings.security.tokens.verification import Verification


class OAuthAnswer(Struct, frozen=True):
    """What is to be sent; every answer is JSON."""

    status: int
    content: dict[str, Any]


class AuthorisationServer:
    """Answers, or raises a TidingsError that is the answer."""

    def __init__(
        self,
        credentials: Credentials,
        keys: KeyRing,
        issuer: OwnIssuer,
        verification: Verification,
        ledger: Ledger,
        *,
        by_address: Limiter,
        by_client: Limiter,
        audit: Audit,
    ) -> None:
        self._credentials = credentials
        self._keys = keys
        self._issuer = issuer
        self._verification = verification
        self._ledger = ledger
        self.by_address = by_address
        self.by_client = by_client
        self._audit = audit

    async def register(self, request: OAuthRequest) -> OAuthAnswer:
        who = ""
        try:
            self._count(request.address)
            wanted = read_registration(request)
            who = wanted[:128] if isinstance(wanted, str) else ""
            registered = await self._credentials.register(wanted)
        except TidingsError as error:
            self._tell("register", who, request, error)
            raise
        self._tell("register", who, request)
        key = self._keys.signing
        return OAuthAnswer(
            201,
            {
                "credentials": {
                    "client_id": registered.client.id,
                    "client_secret": registered.secret,
                    "signature": {} if key is None else key.public(),
                }
            },
        )

    async def token(self, request: OAuthRequest) -> OAuthAnswer:
        who = ""
        try:
            self._count(request.address)
            wanted = read_token_request(request)
            who = wanted.login.client
            client = await self._log_in(wanted.login)
            if wanted.scopes is not None and not wanted.scopes <= client.scopes:
                raise InvalidScope(f"the client has no scope {min(wanted.scopes - client.scopes)[:80]!r}")
            scopes = client.scopes if wanted.scopes is None else wanted.scopes
            issued = self._issuer.issue(client, scopes)
        except TidingsError as error:
            self._tell("token", who, request, error)
            raise
        self._tell("token", who, request, target=issued.token)
        return OAuthAnswer(200 if wanted.login.standard else 201, _both_forms(issued, scopes))

    async def revoke(self, request: OAuthRequest) -> OAuthAnswer:
        """RFC 7009: a token that does not count anyway is revoked successfully."""
        who = ""
        try:
            self._count(request.address)
            asked = read_revocation(request)
            who = asked.login.client
            client = await self._log_in(asked.login)
            token = await self._revoke(client, asked.token)
        except TidingsError as error:
            self._tell("revoke", who, request, error)
            raise
        self._tell("revoke", who, request, target=token)
        return OAuthAnswer(200, {})

    async def _revoke(self, client: Client, text: str) -> str:
        try:
            passport = await self._verification.verify(text)
        except (InvalidGrant, InvalidRequest):
            return ""
        if passport.issuer != self._issuer.expected.issuer or passport.client != client.id:
            raise UnauthorizedClient("the token is not one of this client")
        await self._ledger.write(Revocations.revocation(passport.token, passport.expires))
        return passport.token

    def jwks(self) -> OAuthAnswer:
        return OAuthAnswer(200, self._keys.jwks())

    def metadata(self) -> OAuthAnswer:
        """RFC 8414."""
        issuer = self._issuer.expected.issuer
        base = issuer.rstrip("/")
        methods = ["client_secret_basic", "client_secret_post"]
        return OAuthAnswer(
            200,
            {
                "issuer": issuer,
                "token_endpoint": f"{base}/oauth/token",
                "revocation_endpoint": f"{base}/oauth/revoke",
                "jwks_uri": f"{base}/oauth/jwks",
                "response_types_supported": [],
                "grant_types_supported": ["client_credentials"],
                "token_endpoint_auth_methods_supported": methods,
                "revocation_endpoint_auth_methods_supported": methods,
            },
        )

    # -- who it is, and how often ---------------------------------------------------------------------------------

    async def _log_in(self, login: Login) -> Client:
        """Raises UnauthorizedClient, or InvalidClient to those who expect it, TooManyAttempts."""
        if self._credentials.find(login.client) is not None:
            _check(self.by_client.take(login.client), "attempts by this client")
        try:
            return await self._credentials.authenticate(login.client, login.secret)
        except UnauthorizedClient as error:
            if login.standard:
                raise InvalidClient(str(error)) from error
            raise

    def _count(self, address: str) -> None:
        _check(self.by_address.take(neighbourhood(address)), "attempts from this address")

    def _tell(
        self, what: str, who: str, request: OAuthRequest, error: TidingsError | None = None, target: str = ""
    ) -> None:
        decision, reason = ("allowed", "") if error is None else ("refused", error.code)
        self._audit(Event(who=who, what=what, where=request.address, decision=decision, reason=reason, target=target))


def _check(wait: float, what: str) -> None:
    if wait:
        raise TooManyAttempts(what, wait)


def _both_forms(issued: Issued, scopes: frozenset[str]) -> dict[str, Any]:
    """Clients of different makes read one or the other."""
    token = {"access_token": issued.text, "token_type": "bearer", "expires_in": issued.seconds}
    return {**token, "scope": " ".join(sorted(scopes)), "token": token}
