"""What becomes of subscriptions while tokens are revoked, expire and are renewed, and while grants change."""

import json
from pathlib import Path

import httpx

from gates.client import connected, rows
from gates.doors import Listener
from gates.secured import DATA, POLICY, A, B, House, secured
from gates.sockets import asynchronous
from security.making import basic
from tidings.security.policy.grants import Grant
from waiting import until

QUERY = "SELECT ?o { GRAPH ?g { <s> <p> ?o } }"


async def _revoke(house: House, name: str, secret: str, token: str) -> None:
    form = {"token": token.removeprefix("Bearer ")}
    answer = await house.http.post("/oauth/revoke", data=form, headers={"authorization": basic(name, secret)})
    assert answer.status_code == 200, answer.text


@asynchronous
async def test_a_story_register_subscribe_hear_of_another_be_revoked(tmp_path: Path) -> None:
    policy = POLICY + f'\n[[grant]]\nto = "everyone"\nsubscribe = ["{A}/public"]\n'
    async with secured(tmp_path, policy) as house, connected(house) as client:
        secret = await house.register("listener")
        token, writer = await house.login("listener", secret), await house.newcomer("writer")
        first = await client.ask({"subscribe": {"sparql": QUERY, "alias": "it", "authorization": token}})
        assert rows(first["notification"]["addedResults"]) == [("in a",)]
        insert = f'INSERT DATA {{ GRAPH <{A}> {{ <s> <p> "more" }} }}'
        done = await house.http.post("/update", data={"update": insert}, headers={"authorization": writer})
        assert done.status_code == 200
        assert rows((await client.next())["notification"]["addedResults"]) == [("more",)]
        await _revoke(house, "listener", secret, token)
        told = (await client.next())["notification"]
        assert sorted(rows(told["removedResults"])) == [("in a",), ("more",)]
        assert (rows(told["addedResults"]), told["reason"]) == ([], "the token was revoked")
        refused = await client.ask({"query": {"sparql": "ASK {}", "authorization": token, "alias": "q"}})
        assert (refused["error"], refused["status_code"], refused["alias"]) == ("invalid_grant", 401, "q")


@asynchronous
async def test_one_who_may_see_nothing_any_more_is_told_that_it_is_over(tmp_path: Path) -> None:
    async with secured(tmp_path) as house, connected(house) as client:
        token = await house.newcomer("listener")
        first = await client.ask({"subscribe": {"sparql": QUERY, "authorization": token}})
        headers = {"authorization": token}
        async with house.http.stream("GET", "/subscribe", params={"query": QUERY}, headers=headers) as answer:
            stream = Listener(answer)
            await stream.next()
            await house.security.authority.credentials.remove("listener")
            last = await stream.next()
        assert (last.name, last.data["error"]) == ("error", "may_not_subscribe")
        over = (await client.next())["unsubscribed"]
        assert (over["spuid"], over["reason"]) == (first["notification"]["spuid"], "the token was revoked")


@asynchronous
async def test_a_token_that_expires_ends_a_subscription_after_the_grace_unless_another_is_shown(tmp_path: Path) -> None:
    async with secured(tmp_path, token_grace=60.0) as house, connected(house) as lazy, connected(house) as eager:
        secret = await house.register("listener")
        token = await house.login("listener", secret)
        for client in (lazy, eager):
            await client.ask({"subscribe": {"sparql": QUERY, "authorization": token}})
        house.clock.pass_by(630)
        await house.security.guard.presences.look()
        expired = await lazy.ask({"query": {"sparql": "ASK {}"}})
        assert (expired["error"], expired["status_code"]) == ("invalid_grant", 401)
        renewed = await house.login("listener", secret)
        assert "response" in await eager.ask({"query": {"sparql": "ASK {}", "authorization": renewed}})
        house.clock.pass_by(31)
        await house.security.guard.presences.look()
        assert (await lazy.next())["unsubscribed"]["reason"] == "the token has expired"
        await house.broker.update(f'INSERT DATA {{ GRAPH <{A}> {{ <s> <p> "more" }} }}')
        assert rows((await eager.next())["notification"]["addedResults"]) == [("more",)]


@asynchronous
async def test_a_grant_shows_the_rows_that_may_be_seen_now_and_its_withdrawal_takes_them_back(tmp_path: Path) -> None:
    async with secured(tmp_path) as house, connected(house) as client:
        token = await house.newcomer("listener")
        await client.ask({"subscribe": {"sparql": QUERY, "authorization": token}})
        grant = Grant(to="client:listener", subscribe=("*",))
        await house.security.authority.policies.replace("more", (grant,))
        assert rows((await client.next())["notification"]["addedResults"]) == [("in b",)]
        await house.security.authority.policies.replace("more", ())
        assert rows((await client.next())["notification"]["removedResults"]) == [("in b",)]


@asynchronous
async def test_the_file_of_security_is_read_again_and_a_mistake_in_it_changes_nothing(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        token, file = await house.newcomer("reader"), tmp_path / "security.toml"

        async def seen() -> int:
            headers = {"authorization": token}
            answer: httpx.Response = await house.http.post("/query", data={"query": QUERY}, headers=headers)
            return len(answer.json()["results"]["bindings"])

        assert await seen() == 1
        file.write_text(POLICY.replace(f'query = ["{A}"]', 'query = ["*"]'))
        await house.security.read_again()
        assert await seen() == 2
        file.write_text("grant = 7")
        await house.security.read_again()
        assert await seen() == 2


@asynchronous
async def test_the_audit_log_says_who_did_what_from_where_and_has_no_secret(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        secret = await house.register("writer")
        token = await house.login("writer", secret)
        update = {"update": f"INSERT DATA {{ GRAPH <{A}> {{ <s> <q> 1 }} }}"}
        await house.http.post("/update", data=update, headers={"authorization": token})
        await house.http.post("/update", data={"update": "DROP ALL"}, headers={"authorization": token})
        await house.http.post("/update", data=update)
        audit = tmp_path / "audit.jsonl"
        await until(lambda: audit.exists() and audit.read_text().count("POST /update") == 3)
        text = audit.read_text()
        done, denied, unknown = [json.loads(line) for line in text.splitlines() if "POST /update" in line]
        assert (done["who"], done["where"], done["decision"], done["commit"]) == ("writer", "127.0.0.1", "allowed", 2)
        assert (denied["who"], denied["decision"], denied["reason"]) == ("writer", "refused", "graph_not_writable")
        assert (unknown["decision"], unknown["reason"]) == ("refused", "invalid_request")
        assert "who" not in unknown
        assert secret not in text
        assert token.removeprefix("Bearer ") not in text


@asynchronous
async def test_the_feed_of_commits_has_what_may_be_read_from_the_disk_and_as_it_comes(tmp_path: Path) -> None:
    async with secured(tmp_path, data=str(tmp_path / "data")) as house:
        reader, writer = await house.newcomer("reader"), await house.newcomer("writer")
        headers = {"authorization": reader}
        logged = (await house.http.get("/log", headers=headers)).text
        assert "in a" in logged
        assert "in b" not in logged
        assert (await house.http.get("/log", headers={"authorization": writer})).text.strip() == ""
        async with house.http.stream("GET", "/log", params={"follow": "true", "from": "2"}, headers=headers) as answer:
            lines = answer.aiter_lines()
            await anext(lines)  # the heartbeat: the feed is open
            both = f"GRAPH <{A}> {{ <s> <p> <new-a> }} GRAPH <{B}> {{ <s> <p> <new-b> }}"
            await house.broker.update(f"INSERT DATA {{ {both} }}")
            line = await anext(lines)
            assert "new-a" in line
            await house.security.authority.credentials.remove("reader")
            rest = "".join([line async for line in lines])  # it ends: what its client may read has changed
            assert "new-b" not in line + rest


@asynchronous
async def test_a_feed_of_just_some_graphs_has_every_commit_or_is_refused(tmp_path: Path) -> None:
    async with secured(tmp_path, data=str(tmp_path / "data")) as house:
        reader, boss = await house.newcomer("reader"), await house.newcomer("boss")
        await house.broker.update(f"INSERT DATA {{ GRAPH <{B}> {{ <s> <p> <more> }} }}")

        async def feed(token: str, *graphs: str) -> tuple[int, list[dict[str, object]]]:
            answer = await house.http.get("/log", params={"graphs": graphs}, headers={"authorization": token})
            return answer.status_code, [json.loads(line) for line in answer.text.splitlines() if line]

        status, lines = await feed(reader, A)
        assert status == 200
        assert [(line["seq"], line["op"]) for line in lines] == [(1, "add"), (2, "none")]
        assert set(lines[1]) == {"seq", "time", "op", "left"}
        for graphs in ((B,), (A, B), (f"{A}*",), ("default",), ("*",)):
            status, (error,) = await feed(reader, *graphs)
            assert (status, error["error"]) == (403, "graph_not_readable"), graphs
        assert [line["g"] for line in (await feed(boss, B))[1]] == [f"<{B}>", f"<{B}>"]
        assert [line["op"] for line in (await feed(boss, "urn:nothing", A))[1]] == ["add", "none"]
        assert (await feed(boss, "nothing"))[0] == 400


@asynchronous
async def test_clients_grants_and_keys_are_there_again_after_a_restart(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    async with secured(tmp_path, data=data) as house:
        secret = await house.register("reader")
        token = await house.login("reader", secret)
        await house.security.authority.policies.replace("more", (Grant(to="client:reader", query=("*",)),))
    async with secured(tmp_path, data=data) as house:
        answer = await house.http.post("/query", data={"query": QUERY}, headers={"authorization": token})
        assert len(answer.json()["results"]["bindings"]) == 2
        assert await house.login("reader", secret)


@asynchronous
async def test_the_audit_log_says_what_came_of_updates_that_were_due_later(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        writer = await house.newcomer("writer")
        names = []
        for graph in (A, B):
            later = {"update": f"INSERT DATA {{ GRAPH <{graph}> {{ <due> <p> 1 }} }}", "delay": "60"}
            answer = await house.http.post("/update", data=later, headers={"authorization": writer})
            names.append(answer.json()["response"]["delayed"])
        house.clock.pass_by(61)
        audit = tmp_path / "audit.jsonl"
        await until(lambda: audit.exists() and audit.read_text().count('"what":"delayed"') == 2)
        lines = [json.loads(line) for line in audit.read_text().splitlines()]
        done, refused = (
            next(each for each in lines if each["what"] == "delayed" and each["target"] == n) for n in names
        )
        assert (done["who"], done["decision"], done["commit"]) == ("writer", "allowed", house.broker.status().commit)
        assert (refused["who"], refused["decision"], refused["reason"]) == ("writer", "refused", "graph_not_writable")


@asynchronous
async def test_the_access_log_has_what_only_reads_as_well_and_once(tmp_path: Path) -> None:
    access, audit = tmp_path / "access.jsonl", tmp_path / "audit.jsonl"
    async with secured(tmp_path, access_log=str(access)) as house, connected(house) as client:
        token = await house.newcomer("boss")
        headers = {"authorization": token}
        await house.http.post("/query", data={"query": QUERY}, headers=headers)
        await house.http.post("/query", data={"query": "nonsense"}, headers=headers)
        await house.http.post("/update", data={"update": DATA}, headers=headers)
        await client.ask({"query": {"sparql": QUERY, "authorization": token}})
        await until(lambda: access.exists() and '"what":"query"' in access.read_text())
        lines = [json.loads(line) for line in access.read_text().splitlines()]
        done = [(each["what"], each.get("who"), each["decision"], each.get("reason")) for each in lines[-4:]]
        assert done == [
            ("POST /query", "boss", "allowed", None),
            ("POST /query", "boss", "refused", "sparql_syntax_error"),
            ("POST /update", "boss", "allowed", None),
            ("query", "boss", "allowed", None),
        ]
        assert "query" not in audit.read_text()
        assert token.removeprefix("Bearer ") not in access.read_text()
