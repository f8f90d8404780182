"""The endpoints with which administrators manage clients, grants and keys.

    /admin/clients, /admin/clients/{id}, /admin/clients/{id}/revoke
    /admin/grants, /admin/grants/{name}
    /admin/keys, /admin/keys/{kid}

A change is durable before it is answered, and takes effect at once; the audit log names the administrator. No response
may be cached, because some contain a secret.
"""

from collections.abc import Iterable, Mapping
from heapq import nsmallest
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from tidings.gates.asking import Guard
from tidings.gates.errors import ForAdministrators
from tidings.gates.http.responses import Envelope
from tidings.gates.http.routing import MOST_PER_PAGE, page_of, route
from tidings.gates.http.security.documents import Assignment, Enrolment, read_client, read_granting
from tidings.gates.http.security.identification import administrator, deed_of, shown_by
from tidings.protocol.instants import shown
from tidings.security.administration import Administration, Asking
from tidings.security.clients.client import Client
from tidings.security.errors import UnknownGrants
from tidings.security.keys.key_ring import KnownKey
from tidings.security.passport import Passport
from tidings.security.policy.grants import Grant, names_of

Json = dict[str, Any]
_UNKEPT = {"cache-control": "no-store"}


class AdministrationEndpoints:
    """The handlers, for one broker."""

    def __init__(self, administration: Administration, guard: Guard) -> None:
        self._administration = administration
        self._authority = administration.authority
        self._guard = guard

    def routes(self) -> list[BaseRoute]:
        return [
            route("/admin/clients", self._clients, "GET", "HEAD", "POST"),
            route("/admin/clients/{id:path}/revoke", self._revoke, "POST"),
            route("/admin/clients/{id:path}", self._client, "GET", "HEAD", "PUT", "DELETE"),
            route("/admin/grants", self._policy, "GET", "HEAD"),
            route("/admin/grants/{name}", self._grants, "GET", "HEAD", "PUT", "DELETE"),
            route("/admin/keys", self._keys, "GET", "HEAD", "POST"),
            route("/admin/keys/{kid}", self._key, "DELETE"),
        ]

    # -- clients --------------------------------------------------------------------------------------------------

    async def _clients(self, request: Request) -> Response:
        administrator(request)
        if request.method == "POST":
            return await self._enroll(request)
        credentials, after = self._authority.credentials, request.query_params.get("after", "")
        ids = (client.id for client in credentials if client.id > after)
        page, more = page_of(request, iter(nsmallest(MOST_PER_PAGE + 1, ids)))
        content: Json = {"total": len(credentials), "clients": [_client(credentials.known(each)) for each in page]}
        return _answer(content | ({"after": page[-1]} if more else {}))

    async def _enroll(self, request: Request) -> Response:
        wanted = await read_client(request, Enrolment)
        asking = self._asking(request)
        registered = await self._administration.enroll(asking, wanted.client_id, wanted.roles, wanted.scopes)
        self._record(request, registered.client.id)
        return _answer({"client_id": registered.client.id, "client_secret": registered.secret}, 201)

    async def _client(self, request: Request) -> Response:
        administrator(request)
        name = request.path_params["id"]
        match request.method:
            case "PUT":
                wanted = await read_client(request, Assignment)
                client = await self._administration.assign(self._asking(request), name, wanted.roles, wanted.scopes)
                self._record(request, name)
                return _answer(_client(client))
            case "DELETE":
                await self._administration.remove(self._asking(request), name)
                self._record(request, name)
                return _answer({"removed": name})
            case _:
                client = self._authority.credentials.known(name)
                return _answer(_client(client) | {"grants": self._concerning(client.passport())})

    async def _revoke(self, request: Request) -> Response:
        administrator(request)
        name = request.path_params["id"]
        await self._administration.revoke(self._asking(request), name)
        self._record(request, name)
        return _answer({"revoked": name})

    # -- grants ---------------------------------------------------------------------------------------------------

    async def _policy(self, request: Request) -> Response:
        administrator(request)
        return _answer({"grants": _parts(self._authority.policies.parts)})

    async def _grants(self, request: Request) -> Response:
        administrator(request)
        name, parts = request.path_params["name"], self._authority.policies.parts
        match request.method:
            case "PUT":
                grants = await read_granting(request)
                await self._administration.grant(self._asking(request), name, grants)
                self._record(request, name)
                return _answer({"grants": _grants(grants)})
            case "DELETE":
                await self._administration.withdraw(self._asking(request), name)
                self._record(request, name)
                return _answer({"removed": name})
            case _:
                if name not in parts:
                    raise UnknownGrants(f"there are no grants under the name {name[:64]!r}")
                return _answer({"grants": _grants(parts[name])})

    def _concerning(self, passport: Passport) -> Json:
        """The grants that concern a client, by the names of the parts of the policy that have them."""
        names, parts = frozenset(names_of(passport)), self._authority.policies.parts.items()
        mine = {part: tuple(grant for grant in grants if grant.to in names) for part, grants in parts}
        return _parts({part: grants for part, grants in mine.items() if grants})

    # -- keys -----------------------------------------------------------------------------------------------------

    async def _keys(self, request: Request) -> Response:
        administrator(request)
        if request.method == "POST":
            kid = await self._administration.rotate(self._asking(request))
            self._record(request, kid)
            return _answer({"kid": kid}, 201)
        return _answer({"keys": [_key(key) for key in self._authority.keys]})

    async def _key(self, request: Request) -> Response:
        administrator(request)
        kid = request.path_params["kid"]
        await self._administration.drop(self._asking(request), kid)
        self._record(request, kid)
        return _answer({"dropped": kid})

    # -- who asks -------------------------------------------------------------------------------------------------

    def _asking(self, request: Request) -> Asking:
        """A function that identifies the sender of a request at the moment when it is called."""

        async def ask() -> Passport:
            passport = await self._authority.identify(shown_by(request.scope))
            if not self._authority.rights_of(passport).administer:
                raise ForAdministrators(f"{request.url.path} is for administrators")
            return passport

        return ask

    def _record(self, request: Request, target: str) -> None:
        self._guard.judge(administrator(request), deed_of(request.scope, target))


def _answer(content: Json, status: int = 200) -> Envelope:
    return Envelope(content, status, _UNKEPT)


def _client(client: Client) -> Json:
    return {
        "client_id": client.id,
        "roles": sorted(client.roles),
        "scopes": sorted(client.scopes),
        "registered": shown(client.since),
    }


def _parts(parts: Mapping[str, tuple[Grant, ...]]) -> Json:
    return {name: _grants(grants) for name, grants in parts.items()}


def _grants(grants: Iterable[Grant]) -> list[Any]:
    return [msgspec.to_builtins(grant) for grant in grants]


def _key(key: KnownKey) -> Json:
    return {"kid": key.kid, "algorithm": key.algorithm, "since": shown(key.since), "signs": key.signs}
