"""Who the agents of a profile are: its section `oauth`, registration by identity, and credentials in files."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from client.test_login import QUERY, http_of, member, response, stranger
from gates.secured import A, House, secured
from tidings.client import Application, CredentialsFile
from tidings.client.errors import BadCredentials, Refused
from tidings.client.http import HttpClient
from tidings.client.login.login import Login
from waiting import asynchronous, until

pytestmark = pytest.mark.server


def profile(house: House, **oauth: Any) -> dict[str, Any]:
    ws_port = int(house.ws.split(":")[2].partition("/")[0])
    return {
        "host": "127.0.0.1",
        "sparql11protocol": {"port": house.http.base_url.port, "query": {"path": "/secure/query"}},
        "sparql11seprotocol": {"availableProtocols": {"ws": {"port": ws_port, "path": "/secure/subscribe"}}},
        "oauth": oauth,
        "updates": {
            "SAY": {
                "sparql": f"INSERT DATA {{ GRAPH <{A}> {{ <s> <p> ?o }} }}",
                "forcedBindings": {"o": {"type": "literal"}},
            }
        },
        "queries": {"SAID": {"sparql": QUERY}},
    }


@asynchronous
async def test_agents_register_by_identity_and_keep_what_they_are_given(tmp_path: Path) -> None:
    file = tmp_path / "kept" / "boss.json"
    async with secured(tmp_path) as house:
        url = http_of(house)
        document = profile(house, enable=True, register=f"{url}/oauth/register", tokenRequest=f"{url}/oauth/token")
        boss = CredentialsFile(file, identity="boss")
        heard: list[str] = []
        async with Application(document, credentials=boss) as app:

            @app.consumer("SAID")
            def said(change: Any) -> None:
                heard.extend(sorted(row["o"] for row in change.added_values()))

            await app.producer("SAY")(o="hello")
            await until(lambda: "hello" in heard)
            assert len(await app.query("SAID")) == 3
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert json.loads(file.read_bytes())["client_id"] == "boss"
        again = Login(CredentialsFile(file), url)
        assert again.wanted() is None  # it has the token, too
        house.clock.pass_by(630)
        async with Application(document, credentials=CredentialsFile(file)) as app:
            assert len(await app.query("SAID")) == 3
        with pytest.raises(Refused) as refused:  # an identity belongs to whoever registers it first
            async with Application(document, credentials=CredentialsFile(tmp_path / "other", "boss")) as app:
                await app.query("SAID")
        assert refused.value.code == "not_authorized_identity"


@asynchronous
async def test_agents_show_their_token_to_the_broker_of_the_profile_only(tmp_path: Path) -> None:
    async with secured(tmp_path) as house, stranger(response("200 OK", body=b"{}")) as (elsewhere, heard):
        document = profile(house)
        port = int(elsewhere.rpartition(":")[2])
        away = {"sparql11protocol": {"port": port}}
        document["updates"]["AWAY"] = {"sparql": "CLEAR ALL", **away}
        boss = await member(house, "boss")
        async with Application(document, credentials=boss) as app:
            await app.producer("SAY")(o="hello")
            await app.producer("AWAY")()
        assert "authorization" not in heard[-1].lower()
        async with Application(profile(house, enable=False), credentials=boss) as app:
            with pytest.raises(Refused) as refused:
                await app.query("SAID")
        assert refused.value.status == 401


@pytest.mark.parametrize(("content", "match"), [(None, "is not there"), (b"hush", "is not a file of credentials")])
def test_a_file_that_is_no_use_is_named(tmp_path: Path, content: bytes | None, match: str) -> None:
    path = tmp_path / "credentials.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadCredentials, match=match) as refused:
        HttpClient("http://localhost:1", credentials=CredentialsFile(path))
    assert "hush" not in str(refused.value)
