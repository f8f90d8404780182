"""Clients, grants and keys, seen and changed over HTTP: by administrators alone, durable, and in effect at once."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from gates.client import connected, rows
from gates.doors import indoors, is_error
from gates.office import Office, opened
from gates.secured import POLICY, A, B, secured
from security.making import basic
from waiting import asynchronous, until

QUERY = "SELECT ?o { GRAPH ?g { <s> <p> ?o } }"
LAMP = {"client_id": "lamp/7", "roles": ["lamps"], "scopes": ["write", "read"]}
GRANTS = {"grants": [{"to": "role:lamps", "query": [A]}]}
CALLS: list[tuple[str, str, Any]] = [
    ("GET", "/admin/clients", None),
    ("POST", "/admin/clients", {"client_id": "new"}),
    ("GET", "/admin/clients/reader", None),
    ("PUT", "/admin/clients/reader", {"roles": ["x"], "scopes": []}),
    ("DELETE", "/admin/clients/reader", None),
    ("POST", "/admin/clients/reader/revoke", None),
    ("GET", "/admin/grants", None),
    ("GET", "/admin/grants/file", None),
    ("PUT", "/admin/grants/more", GRANTS),
    ("DELETE", "/admin/grants/more", None),
    ("GET", "/admin/keys", None),
    ("POST", "/admin/keys", None),
    ("DELETE", "/admin/keys/KID", None),
]


# -- who may ----------------------------------------------------------------------------------------------------


@asynchronous
async def test_nothing_of_it_is_for_others_than_administrators(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        nobody, reader = Office(house, None), Office(house, await house.newcomer("reader"))
        before = [list(house.security.authority.credentials), dict(house.security.authority.policies.parts)]
        for method, path, document in CALLS:
            for prefix in ("", "/secure"):
                refused = await nobody.ask(method, prefix + path, document)
                assert is_error(refused, 401, "invalid_request"), path
                assert refused.headers["www-authenticate"].startswith("Bearer")
                assert is_error(await reader.ask(method, prefix + path, document), 403, "for_administrators"), path
        assert [list(house.security.authority.credentials), dict(house.security.authority.policies.parts)] == before


@asynchronous
async def test_without_security_there_is_nothing_to_administer() -> None:
    async with indoors() as house:
        for method, path, document in CALLS:
            answer = await house.http.request(method, path, json=document)
            assert is_error(answer, 404, "not_found")
            assert "--secure" in answer.json()["error_description"]


@asynchronous
async def test_the_audit_log_says_who_changed_what_and_has_no_secret(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        office = await opened(house)
        made = await office.done("POST", "/admin/clients", LAMP, 201)
        await office.done("PUT", "/admin/grants/more", GRANTS)
        await Office(house, None).ask("DELETE", "/admin/grants/more")
        audit = tmp_path / "audit.jsonl"
        await until(lambda: audit.exists() and audit.read_text().count("/admin/") == 3)
        text = audit.read_text()
        added, granted, refused = [line for line in text.splitlines() if "/admin/" in line]
        assert '"what":"POST /admin/clients","who":"boss","where":"127.0.0.1"' in added
        assert '"target":"lamp/7"' in added
        assert '"who":"boss"' in granted
        assert '"target":"more"' in granted
        assert '"decision":"refused","reason":"invalid_request"' in refused
        assert made["client_secret"] not in text


# -- clients ----------------------------------------------------------------------------------------------------


@asynchronous
async def test_the_life_of_a_client(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        office = await opened(house)
        made = await office.done("POST", "/admin/clients", LAMP, 201)
        assert made.keys() == {"client_id", "client_secret"}
        token = await house.login("lamp/7", made["client_secret"])
        await office.done("PUT", "/admin/grants/lamps", GRANTS)
        shown = await office.done("GET", "/admin/clients/lamp%2F7")
        assert shown["scopes"] == ["read", "write"]
        assert shown["grants"] == {"lamps": GRANTS["grants"]}
        assert shown["registered"].startswith("20")
        asked: dict[str, Any] = {"data": {"query": QUERY}, "headers": {"authorization": token}}
        assert len((await house.http.post("/query", **asked)).json()["results"]["bindings"]) == 1
        changed = await office.done("PUT", "/admin/clients/lamp/7", {"roles": [], "scopes": ["read"]})
        assert (changed["roles"], changed["scopes"]) == ([], ["read"])
        assert (await house.http.post("/query", **asked)).json()["results"]["bindings"] == []
        assert await office.done("POST", "/admin/clients/lamp/7/revoke") == {"revoked": "lamp/7"}
        assert is_error(await house.http.post("/query", **asked), 401, "invalid_grant")
        await house.login("lamp/7", made["client_secret"])
        assert await office.done("DELETE", "/admin/clients/lamp/7") == {"removed": "lamp/7"}
        gone = await house.http.post("/oauth/token", headers={"authorization": basic("lamp/7", made["client_secret"])})
        assert is_error(gone, 400, "unauthorized_client")
        for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/revoke")):
            assert is_error(await office.ask(method, f"/admin/clients/lamp/7{path}"), 404, "unknown_client")


@asynchronous
async def test_clients_come_in_pages_by_their_ids(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        office = await opened(house)
        for number in (3, 1, 2):
            await office.done("POST", "/admin/clients", {"client_id": f"lamp-{number}"}, 201)
        found: list[str] = []
        after = ""
        while True:
            page = await office.done("GET", f"/admin/clients?limit=2{after}")
            assert page["total"] == 4
            found += [client["client_id"] for client in page["clients"]]
            if "after" not in page:
                break
            after = f"&after={page['after']}"
            if len(found) == 2:
                await office.done("DELETE", "/admin/clients/lamp-1")  # the last that was seen
                await office.done("POST", "/admin/clients", {"client_id": "lamp-9"}, 201)
        assert found == ["boss", "lamp-1", "lamp-2", "lamp-3", "lamp-9"]


# -- grants -----------------------------------------------------------------------------------------------------


@asynchronous
async def test_grants_reach_a_live_subscription_with_exactly_the_rows(tmp_path: Path) -> None:
    async with secured(tmp_path) as house, connected(house) as client:
        office, token = await opened(house), await house.newcomer("listener")
        first = await client.ask({"subscribe": {"sparql": QUERY, "authorization": token}})
        assert rows(first["notification"]["addedResults"]) == [("in a",)]
        granting = {"grants": [{"to": "client:listener", "subscribe": [B]}]}
        assert await office.done("PUT", "/admin/grants/more", granting) == granting
        told = (await client.next())["notification"]
        assert (rows(told["addedResults"]), rows(told["removedResults"])) == ([("in b",)], [])
        assert told["sequence"] == 1
        assert await office.done("DELETE", "/admin/grants/more") == {"removed": "more"}
        told = (await client.next())["notification"]
        assert (rows(told["addedResults"]), rows(told["removedResults"])) == ([], [("in b",)])
        assert told["reason"] == "your rights have changed"


@asynchronous
async def test_a_role_that_a_client_is_given_reaches_its_live_subscription(tmp_path: Path) -> None:
    policy = POLICY + f'\n[[grant]]\nto = "role:wide"\nsubscribe = ["{B}"]\n'
    async with secured(tmp_path, policy) as house, connected(house) as client:
        office, token = await opened(house), await house.newcomer("listener")
        await client.ask({"subscribe": {"sparql": QUERY, "authorization": token}})
        await office.done("PUT", "/admin/clients/listener", {"roles": ["wide"], "scopes": []})
        assert rows((await client.next())["notification"]["addedResults"]) == [("in b",)]
        await office.done("DELETE", "/admin/clients/listener")
        assert "unsubscribed" in await client.next()


@asynchronous
async def test_grants_are_seen_by_their_names_and_those_of_the_file_are_its_own(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        office = await opened(house)
        await office.done("PUT", "/admin/grants/more", GRANTS)
        found = (await office.done("GET", "/admin/grants"))["grants"]
        assert list(found) == ["file", "more"]
        assert found["more"] == GRANTS["grants"] == (await office.done("GET", "/admin/grants/more"))["grants"]
        assert {"to": "client:boss", "update": ["*"], "subscribe": ["*"], "administer": True} in found["file"]
        assert is_error(await office.ask("PUT", "/admin/grants/file", GRANTS), 409, "set_by_file")
        assert is_error(await office.ask("DELETE", "/admin/grants/file"), 409, "set_by_file")
        for method in ("GET", "DELETE"):
            assert is_error(await office.ask(method, "/admin/grants/other"), 404, "unknown_grants")
        assert is_error(await office.ask("PUT", "/admin/grants/-x", GRANTS), 400, "bad_request")


# -- nobody is locked out ---------------------------------------------------------------------------------------


@asynchronous
async def test_the_last_administrator_can_neither_go_nor_lose_the_right(tmp_path: Path) -> None:
    async with secured(tmp_path, None) as house:
        admin = house.said[0].split()[-1]
        office = Office(house, await house.login("admin", admin))
        for method, path, document in (
            ("DELETE", "/admin/clients/admin", None),
            ("PUT", "/admin/clients/admin", {"roles": ["others"], "scopes": []}),
        ):
            assert is_error(await office.ask(method, path, document), 409, "last_administrator")
        made = await office.done("POST", "/admin/clients", {"client_id": "anna", "roles": ["operators"]}, 201)
        assert is_error(await office.ask("DELETE", "/admin/clients/admin"), 409, "last_administrator")
        granting = {"grants": [{"to": "role:operators", "administer": True}]}
        await office.done("PUT", "/admin/grants/operators", granting)
        await office.done("DELETE", "/admin/clients/admin")
        anna = Office(house, await house.login("anna", made["client_secret"]))
        assert is_error(await anna.ask("DELETE", "/admin/grants/operators"), 409, "last_administrator")
        for other in (GRANTS, {"grants": [{"to": "role:other", "administer": True}]}):
            assert is_error(await anna.ask("PUT", "/admin/grants/operators", other), 409, "last_administrator")
        await anna.done("PUT", "/admin/grants/anna", {"grants": [{"to": "client:anna", "administer": True}]})
        await anna.done("DELETE", "/admin/grants/operators")
        assert is_error(await anna.ask("DELETE", "/admin/clients/anna"), 409, "last_administrator")


@asynchronous
async def test_one_who_loses_the_right_while_the_body_comes_changes_nothing(tmp_path: Path) -> None:
    policy = POLICY + '\n[[grant]]\nto = "role:operators"\nadminister = true\n'
    async with secured(tmp_path, policy) as house:
        office = await opened(house)
        made = await office.done("POST", "/admin/clients", {"client_id": "anna", "roles": ["operators"]}, 201)
        anna = {"authorization": await house.login("anna", made["client_secret"]), "content-type": "application/json"}
        for change, status, code in (
            (("PUT", "/admin/clients/anna", {"roles": [], "scopes": []}), 403, "for_administrators"),
            (("POST", "/admin/clients/anna/revoke", None), 401, "invalid_grant"),
        ):
            begun = asyncio.Event()

            async def body(begun: asyncio.Event = begun, change: Any = change) -> AsyncIterator[bytes]:
                yield b'{"client_id": '
                begun.set()
                await office.done(*change)
                yield b'"evil"}'

            refused = await house.http.post("/admin/clients", content=body(), headers=anna)
            assert begun.is_set()
            assert is_error(refused, status, code)
            await office.done("PUT", "/admin/clients/anna", {"roles": ["operators"], "scopes": []})
        assert house.security.authority.credentials.find("evil") is None


# -- keys -------------------------------------------------------------------------------------------------------


@asynchronous
async def test_keys_rotate_without_a_token_lost_and_are_dropped_with_all_they_signed(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        secret = await house.register("boss")
        office = Office(house, await house.login("boss", secret))
        (old,) = (await office.done("GET", "/admin/keys"))["keys"]
        assert (old["algorithm"], old["signs"]) == ("Ed25519", True)
        house.clock.pass_by(1)
        new = (await office.done("POST", "/admin/keys", status=201))["kid"]
        keys = (await office.done("GET", "/secure/admin/keys"))["keys"]
        assert [(key["kid"], key["signs"]) for key in keys] == [(old["kid"], False), (new, True)]
        assert keys[0]["since"] < keys[1]["since"]
        later = Office(house, await house.login("boss", secret))
        await later.done("DELETE", f"/admin/keys/{old['kid']}")
        assert is_error(await office.ask("GET", "/admin/keys"), 401, "invalid_grant")
        assert [key["kid"] for key in (await later.done("GET", "/admin/keys"))["keys"]] == [new]
        await later.done("DELETE", f"/admin/keys/{new}")
        last = Office(house, await house.login("boss", secret))
        (made,) = (await last.done("GET", "/admin/keys"))["keys"]
        assert made["kid"] not in (old["kid"], new)
        for unknown in (new, "%2e%2e", "x" * 500):
            assert is_error(await last.ask("DELETE", f"/admin/keys/{unknown}"), 404, "unknown_key")


# -- afterwards -------------------------------------------------------------------------------------------------


@asynchronous
async def test_all_of_it_is_there_again_after_a_restart(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    paths = ("/admin/clients", "/admin/grants", "/admin/keys")
    async with secured(tmp_path, data=data) as house:
        boss = await house.newcomer("boss")
        office = Office(house, boss)
        await office.done("POST", "/admin/clients", LAMP, 201)
        await office.done("POST", "/admin/clients", {"client_id": "gone"}, 201)
        await office.done("PUT", "/admin/clients/lamp/7", {"roles": ["x"], "scopes": []})
        await office.done("DELETE", "/admin/clients/gone")
        await office.done("PUT", "/admin/grants/kept", GRANTS)
        await office.done("PUT", "/admin/grants/gone", GRANTS)
        await office.done("DELETE", "/admin/grants/gone")
        await office.done("POST", "/admin/keys", status=201)
        before = [await office.done("GET", path) for path in paths]
    async with secured(tmp_path, data=data) as house:
        office = Office(house, boss)
        assert [await office.done("GET", path) for path in paths] == before


@asynchronous
async def test_what_there_is_of_security_is_counted(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        office = await opened(house)
        await office.done("POST", "/admin/keys", status=201)
        counted = (await office.ask("GET", "/metrics")).text
        for line in (
            "tidings_clients 1.0",
            "tidings_tokens_issued_total 1.0",
            "tidings_keys 2.0",
            "tidings_grants 4.0",
        ):
            assert f"\n{line}\n" in counted
        assert "certificate" not in counted
