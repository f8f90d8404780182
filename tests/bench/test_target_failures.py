"""What goes wrong with a target is explained: crashes, commands, addresses, configurations."""

import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.targets import BROKERS, POLLED, POWERS, SEPA, heard, opened, powers, server
from endpoint.servers import tool
from tidings.bench.targets.errors import BadTarget, TargetFailed, UnreachableTarget
from tidings.bench.targets.kinds import KINDS, make
from tidings.model.terms import FALSE
from waiting import asynchronous, until

# -- what goes wrong --------------------------------------------------------------------------------------------


@server
@pytest.mark.parametrize("kind", ["sepa", "endpoint"])
@asynchronous
async def test_a_crash_is_noticed_and_told_with_the_end_of_the_log(kind: str) -> None:
    async with opened(SEPA if kind == "sepa" else POLLED) as target:
        listening = await target.subscribe(POWERS)
        await heard(listening, 1)
        os.kill(target.description.details["pid"], signal.SIGKILL)
        with pytest.raises(TargetFailed, match="it has ended by signal SIGKILL") as failed:
            await heard(listening, 1)
        assert "http://127.0.0.1" in failed.value.tail
        with pytest.raises(TargetFailed, match="SIGKILL"):
            await target.query("ASK {}")


@server
@asynchronous
async def test_a_command_that_ends_at_once_is_told_with_what_it_said(tmp_path: Path) -> None:
    log = tmp_path / "it.log"
    program = "import sys; print('no such luck'); sys.exit(3)"
    settings = SEPA | {"command": [sys.executable, "-c", program], "log": str(log)}
    with pytest.raises(TargetFailed, match="exit code 3") as failed:
        await make("it", settings).open()
    assert failed.value.tail == "no such luck"
    assert log.read_text() == "no such luck\n"


@server
@asynchronous
async def test_a_command_that_is_never_ready_is_ended_with_all_that_it_has_started(tmp_path: Path) -> None:
    program = "import os, signal, time; signal.signal(15, signal.SIG_IGN); print(os.fork(), flush=True); time.sleep(60)"
    log = tmp_path / "it.log"
    command = [sys.executable, "-c", program]
    settings = SEPA | {"command": command, "stop_timeout": 0.2, "log": str(log)}
    seconds = 1
    while not log.exists() or "0" not in log.read_text().split():  # a busy machine may need longer to start anything
        with pytest.raises(TargetFailed, match=f"not ready within {seconds} s"):
            await make("it", settings | {"start_timeout": seconds}).open()
        seconds *= 2
    for child in log.read_text().split():
        await until(lambda: child == "0" or not _runs(int(child)))  # noqa: B023 -- at once


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@asynchronous
async def test_a_command_that_is_not_there_is_told() -> None:
    with pytest.raises(TargetFailed, match="no-such-program: No such file"):
        await make("it", SEPA | {"command": ["no-such-program"]}).open()


@pytest.mark.parametrize(
    "settings",
    [
        {"kind": "tidings_ws", "url": "ws://127.0.0.1:1/subscribe"},
        {"kind": "tidings_ws", "url": "http://127.0.0.1:1"},
        {"kind": "tidings_http", "url": "http://127.0.0.1:1"},
        {"kind": "tidings_sse", "url": "http://127.0.0.1:1"},
        {"kind": "sepa", "url": "http://127.0.0.1:1"},
        {"kind": "endpoint", "query": "http://127.0.0.1:1/query"},
    ],
    ids=lambda settings: settings["kind"],
)
@asynchronous
async def test_a_target_that_is_not_there_is_unreachable(settings: dict[str, Any]) -> None:
    with pytest.raises(UnreachableTarget, match=re.escape("127.0.0.1:1")):
        await make("it", settings).open()


@pytest.mark.parametrize("name", BROKERS)
@asynchronous
async def test_a_target_that_was_not_opened_says_so(name: str) -> None:
    with pytest.raises(TargetFailed, match="before it was opened"):
        await make("it", BROKERS[name]).query("ASK {}")


@server
@asynchronous
async def test_virtuoso_reads_and_writes_one_graph_as_if_it_were_the_default() -> None:
    binary, client = tool("virtuoso-t"), tool("isql-vt")
    assert Path(binary).parent == Path(client).parent, "where the target looks for it"
    async with opened({"kind": "virtuoso", "binary": binary, "buffers": 2000, "poll_ms": 5}) as target:
        await target.clear()
        assert await target.query("ASK { ?s ?p ?o }") == [(FALSE,)]
        await target.insert(powers("40"))
        listening = await target.subscribe(POWERS)
        await target.update('DELETE { ?s ?p ?o } INSERT { ?s ?p "60" } WHERE { ?s ?p ?o }')
        told = await heard(listening, 2)
        assert [(one.added, one.removed) for one in told] == [((('"40"',),), ()), ((('"60"',),), (('"40"',),))]
        assert await target.query("CONSTRUCT WHERE { ?s ?p ?o }") == powers("60")


@asynchronous
async def test_virtuoso_says_so_if_it_cannot_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for settings in ({"fetch": False}, {}, {"binary": str(tmp_path / "virtuoso-t")}):
        target = make("it", {"kind": "virtuoso", "cache": str(tmp_path / "cache"), **settings})
        with pytest.raises(TargetFailed, match="virtuoso-t"):
            await target.open()


# -- configurations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "mistakes"),
    [
        ({}, ["kind: is needed"]),
        ({"kind": "tidings_wss"}, ['kind: there is no "tidings_wss"; did you mean tidings_ws?']),
        ({"kind": 3}, ["kind: there is no 3; there are tidings_ws, "]),
        ({"kind": "tidings_ws"}, ["url: is needed"]),
        (
            {"kind": "tidings_http", "url": "ftp://x", "timeout": 0, "conections": 3},
            [
                "url: must be an address that starts with http:// or https://, not \"ftp://x\"",
                "timeout: must be float > 0.0, not 0",
                "conections: there is no such key; did you mean connections?",
            ],
        ),
        ({"kind": "endpoint", "query": "http://x/q", "poll_ms": "often"}, ['poll_ms: must be float, not "often"']),
        ({"kind": "tidings", "storage": "tape"}, ['storage: ', '"tape"']),
        ({"kind": "managed", "command": [], "target": {}}, ["command: must be array of length >= 1, not []"]),
        ({"kind": "managed", "command": ["x"], "target": {"kind": "sepa"}}, ["health: is needed, or a greeting"]),
        (SEPA | {"greeting": "("}, ["greeting: is no regular expression"]),
        (SEPA | {"target": {"kind": "managed"}}, ["target.kind: a target that the suite starts"]),
        (SEPA | {"target": {"kind": "sepa", "ws": 5}}, ["target.ws: must be str, not 5"]),
    ],
)  # fmt: skip
def test_every_mistake_of_a_configuration_is_explained_with_its_key(
    settings: dict[str, Any], mistakes: list[str]
) -> None:
    with pytest.raises(BadTarget, match="the target mine") as bad:
        make("mine", settings)
    for mistake in mistakes:
        assert mistake in str(bad.value)


def test_every_kind_is_documented() -> None:
    documented = sys.modules[make.__module__].__doc__ or ""
    assert all(f"`{kind}`" in documented for kind in KINDS)
