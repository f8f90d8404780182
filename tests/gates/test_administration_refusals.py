"""What administrators ask for that makes no sense, or is too much: named with its place, and without any effect."""

from pathlib import Path
from typing import Any

import pytest

from gates.doors import is_error
from gates.office import opened
from gates.secured import A, secured
from tidings.security.administration import MOST_KEYS
from tidings.security.policy.policies import MOST_PARTS
from waiting import asynchronous

GRANTS = {"grants": [{"to": "role:lamps", "query": [A]}]}


@pytest.mark.parametrize(
    ("document", "status", "code", "place"),
    [
        ({}, 400, "bad_request", "client_id"),
        ([], 400, "bad_request", "Expected `object`"),
        ({"client_id": "a b"}, 400, "bad_request", "1 to 128 of the characters"),
        ({"client_id": 7}, 400, "bad_request", "client_id"),
        ({"client_id": "x", "role": ["a"]}, 400, "bad_request", "role"),
        ({"client_id": "x", "roles": "a"}, 400, "bad_request", "roles"),
        ({"client_id": "x", "roles": ["a b"]}, 400, "bad_request", "roles[0]"),
        ({"client_id": "x", "scopes": ["a\n"]}, 400, "bad_request", "scopes[0]"),
        ({"client_id": "x", "roles": [f"r{n}" for n in range(101)]}, 400, "bad_request", "roles"),
        ({"client_id": "boss"}, 409, "client_exists", "boss"),
        ({"client_id": "x" * 70_000}, 413, "body_too_large", "65,536"),
    ],
)
@asynchronous
async def test_a_client_that_makes_no_sense_is_refused(
    tmp_path: Path, document: Any, status: int, code: str, place: str
) -> None:
    async with secured(tmp_path) as house:
        office = await opened(house)
        answer = await office.ask("POST", "/admin/clients", document)
        assert is_error(answer, status, code)
        assert place in answer.json()["error_description"]
        assert len(house.security.authority.credentials) == 1


@pytest.mark.parametrize("path", ["/admin/clients/boss", "/admin/grants/more"])
@pytest.mark.parametrize(
    ("body", "kind", "status", "code"),
    [
        (b"{", "application/json", 400, "bad_request"),
        (b"\xff", "application/json", 400, "bad_request"),
        (b"[" * 50_000, "application/json", 400, "bad_request"),
        (b"{}", "application/json; charset=utf-8", 400, "bad_request"),
        (b"roles=x", "application/x-www-form-urlencoded", 415, "unsupported_format"),
        (b"{}", "", 415, "unsupported_format"),
        (b" " * (2 << 20), "application/json", 413, "body_too_large"),
    ],
)
@asynchronous
async def test_a_body_that_is_none_is_refused(
    tmp_path: Path, path: str, body: bytes, kind: str, status: int, code: str
) -> None:
    async with secured(tmp_path) as house:
        headers = {"authorization": await house.newcomer("boss"), "content-type": kind}
        assert is_error(await house.http.put(path, content=body, headers=headers), status, code)


@pytest.mark.parametrize(
    ("grants", "place"),
    [
        ([], "DELETE"),
        ([{"to": "everybody", "query": ["*"]}], "grants[0].to"),
        ([*GRANTS["grants"], {"to": "everyone", "update": ["x"]}], "grants[1].update[0]"),
        ([{"to": "everyone", "read": ["*"]}], "[0]"),
        ([7], "[0]"),
    ],
)
@asynchronous
async def test_a_mistake_in_grants_is_named_with_its_place_and_changes_nothing(
    tmp_path: Path, grants: list[Any], place: str
) -> None:
    async with secured(tmp_path) as house:
        office = await opened(house)
        answer = await office.ask("PUT", "/admin/grants/more", {"grants": grants})
        assert is_error(answer, 400, "bad_policy")
        assert place in answer.json()["error_description"]
        assert list(house.security.authority.policies.parts) == ["file"]


@asynchronous
async def test_there_are_only_so_many_grants_and_names_of_them(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        office = await opened(house)
        for number in range(2):
            many = {"grants": [{"to": f"client:{number}-{n}", "query": ["*"]} for n in range(5_000)]}
            await office.done("PUT", f"/admin/grants/many-{number}", many)
        assert is_error(await office.ask("PUT", "/admin/grants/more", GRANTS), 400, "bad_policy")
        await office.done("PUT", "/admin/grants/many-0", GRANTS)
        for number in range(2):
            await office.done("DELETE", f"/admin/grants/many-{number}")
        policies = house.security.authority.policies
        grant = policies.parts["file"][:1]
        for number in range(MOST_PARTS):
            await policies.replace(f"n{number}", grant)
        assert is_error(await office.ask("PUT", "/admin/grants/more", GRANTS), 400, "bad_policy")
        await office.done("PUT", "/admin/grants/n7", GRANTS)


@asynchronous
async def test_only_so_many_keys_count_at_a_time(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        office = await opened(house)
        for _ in range(MOST_KEYS - 1):
            await office.done("POST", "/admin/keys", status=201)
        assert is_error(await office.ask("POST", "/admin/keys"), 429, "too_many_keys")
