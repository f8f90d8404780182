"""The endpoints of the authorisation server, over HTTP: statuses, headers and documents as clients see them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from joserfc import jws
from joserfc.jwk import KeySet
from starlette.applications import Starlette

from broker.making import Clock
from gates.doors import is_error
from security.making import ISSUER, House, authority, settings
from tidings.gates.http.security.authorisation import METADATA, AuthorisationEndpoints
from tidings.security.limits import Rate
from tidings.security.settings import LoginSettings, SecuritySettings
from waiting import asynchronous

REGISTER = {"register": {"client_identity": "lamp-1", "grant_types": ["client_credentials"]}}
JSON = {"accept": "application/json", "content-type": "application/json"}


@asynccontextmanager
async def served(chosen: SecuritySettings | None = None) -> AsyncIterator[tuple[httpx.AsyncClient, House]]:
    async with authority(Clock(), chosen) as house:
        app = Starlette(routes=AuthorisationEndpoints(house.authority.server).routes())
        transport = httpx.ASGITransport(app, client=("192.0.2.9", 4711))
        async with httpx.AsyncClient(transport=transport, base_url=ISSUER) as client:
            yield client, house


async def registered(client: httpx.AsyncClient) -> tuple[str, str]:
    answer = await client.post("/oauth/register", json=REGISTER)
    assert answer.status_code == 201
    credentials = answer.json()["credentials"]
    return credentials["client_id"], credentials["client_secret"]


@asynchronous
async def test_the_way_of_an_existing_client() -> None:
    async with served() as (client, house):
        login = await registered(client)
        answer = await client.post("/oauth/token", headers=JSON, auth=login)
        assert answer.status_code == 201
        assert answer.headers["cache-control"] == "no-store"
        content = answer.json()
        assert content["token"]["access_token"] == content["access_token"]
        assert (await house.authority.identify(f"Bearer {content['access_token']}")).client == "lamp-1"
        assert house.events[-1].where == "192.0.2.9"


@asynchronous
async def test_the_way_of_a_standard_client_by_the_metadata() -> None:
    async with served() as (client, _):
        login = await registered(client)
        metadata = (await client.get(METADATA)).json()
        answer = await client.post(metadata["token_endpoint"], data={"grant_type": "client_credentials"}, auth=login)
        assert answer.status_code == 200
        token = answer.json()["access_token"]
        keys = KeySet.import_key_set((await client.get(metadata["jwks_uri"])).json())
        assert b'"sub":"lamp-1"' in jws.deserialize_compact(token, keys, algorithms=["Ed25519"]).payload
        gone = await client.post(metadata["revocation_endpoint"], data={"token": token}, auth=login)
        assert (gone.status_code, gone.json()) == (200, {})


@asynchronous
async def test_refusals_are_told_as_everywhere_and_never_kept() -> None:
    async with served() as (client, _):
        login = await registered(client)
        again = await client.post("/oauth/register", json=REGISTER)
        assert is_error(again, 401, "not_authorized_identity")
        assert again.headers["cache-control"] == "no-store"
        assert is_error(await client.post("/oauth/token", headers=JSON), 401, "unauthorized_client")
        wrong = await client.post("/oauth/token", headers=JSON, auth=(login[0], "wrong"))
        assert is_error(wrong, 400, "unauthorized_client")
        standard = await client.post(
            "/oauth/token", data={"grant_type": "client_credentials"}, auth=(login[0], "wrong")
        )
        assert is_error(standard, 401, "invalid_client")
        assert standard.headers["www-authenticate"].startswith("Basic")


@asynchronous
async def test_a_body_that_is_too_large_is_not_read() -> None:
    async with served() as (client, _):
        answer = await client.post("/oauth/register", content=b"x" * 100_000, headers=JSON)
        assert is_error(answer, 413, "body_too_large")


@asynchronous
async def test_whoever_tries_too_often_is_told_when_to_come_back() -> None:
    limits = LoginSettings(by_address=Rate(2, 0.1))
    async with served(settings(logins=limits)) as (client, _):
        for _ in range(2):
            await client.post("/oauth/token", headers=JSON, auth=("nobody", "wrong"))
        answer = await client.post("/oauth/token", headers=JSON, auth=("nobody", "wrong"))
        assert is_error(answer, 429, "too_many_attempts")
        assert answer.headers["retry-after"] == "10"
        assert answer.json()["seconds"] == 10


@pytest.mark.parametrize("path", ["/oauth/register", "/oauth/token", "/oauth/revoke"])
@asynchronous
async def test_only_posts_are_taken(path: str) -> None:
    async with served() as (client, _):
        assert (await client.get(path)).status_code == 405
        assert (await client.options(path)).headers["allow"] == "POST, OPTIONS"
