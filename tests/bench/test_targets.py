"""Every target does the same things in the same words, in processes of their own; and what goes wrong is explained."""

import asyncio
import os
import re
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bench.doubles import Double, duplicating, dying, losing, right, swapping
from tidings.bench.targets import Listening, Target, Told
from tidings.bench.targets.errors import BadTarget, TargetFailed, UnreachableTarget
from tidings.bench.targets.kinds import KINDS, make
from tidings.bench.targets.started.peers import oxigraph_binary
from tidings.bench.targets.tidings_sse import Events
from tidings.bench.targets.wire.inbox import Inbox
from tidings.bench.targets.wire.rows import comparable, read_rows
from tidings.client import Refused
from tidings.model.errors import TidingsError
from tidings.model.terms import FALSE, TRUE, XSD, Triple, iri, literal
from waiting import PATIENCE, asynchronous, until

LAMP, POWER, NAME = iri("http://example.org/lamp"), iri("http://example.org/power"), iri("http://example.org/name")
POWERS = f"SELECT ?power WHERE {{ {LAMP} {POWER} ?power }}"
SEPA = {
    "kind": "managed",
    "command": [sys.executable, "-m", "tidings", "serve", "--memory", "--http-port", "0", "--ws-port", "0"],
    "greeting": r"http://127\.0\.0\.1:(?P<http_port>\d+)[\s\S]*ws://127\.0\.0\.1:(?P<ws_port>\d+)/subscribe",
    "target": {
        "kind": "sepa",
        "url": "http://127.0.0.1:{http_port}",
        "ws": "ws://127.0.0.1:{ws_port}/subscribe",
        "subscribers_per_connection": 2,
    },
}
POLLED: dict[str, Any] = SEPA | {
    "health": "http://127.0.0.1:{http_port}/healthz",
    "target": {
        "kind": "endpoint",
        "query": "http://127.0.0.1:{http_port}/query",
        "update": "http://127.0.0.1:{http_port}/update",
        "poll_ms": 5,
        "form": True,
        "triples_per_request": 5,
    },
}
BROKERS: dict[str, dict[str, Any]] = {
    "ws": {"kind": "tidings", "subscribers_per_connection": 2},
    "http": {"kind": "tidings", "transport": "http", "storage": "disk"},
    "sse": {"kind": "tidings", "transport": "sse"},
    "naive": {"kind": "tidings-naive"},
    "sepa": SEPA,
}
STORES: dict[str, dict[str, Any]] = {"endpoint": POLLED, "oxigraph": {"kind": "oxigraph", "poll_ms": 5}}

each_broker = pytest.mark.parametrize("name", BROKERS)
each_target = pytest.mark.parametrize("name", BROKERS | STORES)
server = pytest.mark.server


def powers(*values: str) -> list[Triple]:
    return [(LAMP, POWER, literal(value)) for value in values]


@asynccontextmanager
async def opened(settings: dict[str, Any]) -> AsyncIterator[Target]:
    if settings["kind"] == "oxigraph" and oxigraph_binary() is None:
        pytest.skip("the extra bench is not installed")
    target = make("it", settings)
    await target.open()
    try:
        yield target
    finally:
        await target.close()


async def heard(listening: Listening, number: int) -> list[Told]:
    notifications = aiter(listening)
    async with asyncio.timeout(PATIENCE):
        return [await anext(notifications) for _ in range(number)]


# -- what all can do --------------------------------------------------------------------------------------------


@server
@each_target
@asynchronous
async def test_what_is_inserted_updated_and_cleared_is_seen_by_queries(name: str) -> None:
    async with opened((BROKERS | STORES)[name]) as target:
        await target.insert(powers("40", "60"))
        assert sorted(await target.query(POWERS)) == [('"40"',), ('"60"',)]
        await target.update(f'DELETE DATA {{ {LAMP} {POWER} "40" }}')
        assert await target.query(POWERS) == [('"60"',)]
        assert await target.query(f"CONSTRUCT WHERE {{ {LAMP} ?p ?o }}") == powers("60")
        assert await target.query("ASK { ?s ?p ?o }") == [(TRUE,)]
        await target.clear()
        assert await target.query("ASK { ?s ?p ?o }") == [(FALSE,)]


@server
@each_target
@asynchronous
async def test_rows_are_spelt_alike_by_all_targets(name: str) -> None:
    kept = ('"a \\"b\\"\\n"', f'"7"^^<{XSD}integer>', '"été"', LAMP)
    async with opened((BROKERS | STORES)[name]) as target:
        await target.insert([(LAMP, NAME, each) for each in (*kept, '"hi"@EN-gb', '"_:x"', "_:x")])
        rows = await target.query(f"SELECT ?name ?none WHERE {{ {LAMP} {NAME} ?name }}")
        expected = [(each, None) for each in (*kept, '"hi"@en-gb', '"_:x"', "_:")]
        assert comparable(rows) == dict.fromkeys(expected, 1)


@server
@each_target
@asynchronous
async def test_a_subscription_tells_the_whole_answer_first_and_then_the_changes(name: str) -> None:
    async with opened((BROKERS | STORES)[name]) as target:
        await target.insert(powers("40"))
        listening = await target.subscribe(POWERS)
        (first,) = await heard(listening, 1)
        assert (first.added, first.removed) == ((('"40"',),), ())
        await target.update(
            f'DELETE {{ {LAMP} {POWER} ?old }} INSERT {{ {LAMP} {POWER} "60" }} WHERE {{ {LAMP} {POWER} ?old }}'
        )
        (second,) = await heard(listening, 1)
        assert (second.added, second.removed) == ((('"60"',),), (('"40"',),))
        assert first.at < second.at
        await listening.end()
        await target.insert(powers("80"))
        with pytest.raises(StopAsyncIteration):
            await heard(listening, 1)


@server
@each_broker
@asynchronous
async def test_brokers_tell_every_change_in_order_to_every_subscriber(name: str) -> None:
    async with opened(BROKERS[name]) as target:
        listening = [await target.subscribe(POWERS) for _ in range(5)]
        for number in range(20):
            await target.insert(powers(str(number)))
        for each in listening:
            told = await heard(each, 21)
            assert [one.number for one in told] == list(range(21))
            assert [one.added for one in told[1:]] == [((literal(str(number)),),) for number in range(20)]


@server
@each_target
@asynchronous
async def test_targets_say_what_they_are_and_how_much_memory_they_have(name: str) -> None:
    async with opened((BROKERS | STORES)[name]) as target:
        described = target.description
        assert described.name == "it"
        assert described.address.startswith("http://127.0.0.1:")
        assert "serve" in described.details["command"]
        assert ((await target.memory()) or 0) > 1_000_000
        assert target.offers.polls == (name in STORES)


@server
@each_target
@asynchronous
async def test_timing_components_are_told_by_tidings_and_by_nobody_else(name: str) -> None:
    async with opened((BROKERS | STORES)[name]) as target:
        before = await target.components()
        assert bool(before) == target.offers.components == (name in {"ws", "http", "sse", "naive"})
        await target.subscribe(POWERS)
        await target.insert(powers("40"))
        after = await target.components()
        grown = {key for key in after if after[key] > before[key]}
        if target.offers.components:
            assert {"T_UPDATE", "T_LUTT", "T_BOOSTER", "T_NOTIFY", "requests", "commits", "hits", "notified"} <= grown


@server
@each_target
@asynchronous
async def test_what_is_not_sparql_is_refused_and_harms_nobody(name: str) -> None:
    async with opened((BROKERS | STORES)[name]) as target:
        for call in (target.update, target.query, target.subscribe):
            with pytest.raises(Refused) as refused:
                await call("SELECT nothing")
            assert refused.value.status == 400
        assert await target.query("ASK {}") == [(TRUE,)]


@server
@asynchronous
async def test_a_target_can_be_opened_again() -> None:
    target = make("it", BROKERS["ws"])
    for _ in range(2):
        await target.open()
        try:
            assert await target.query("ASK { ?s ?p ?o }") == [(FALSE,)]
            await target.insert(powers("40"))
        finally:
            await target.close()


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
@pytest.mark.skipif(shutil.which("virtuoso-t") is None, reason="there is no virtuoso-t on the PATH")
@asynchronous
async def test_virtuoso_reads_and_writes_one_graph_as_if_it_were_the_default() -> None:
    async with opened({"kind": "virtuoso", "buffers": 2000, "poll_ms": 5}) as target:
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


# -- parts ------------------------------------------------------------------------------------------------------


def test_events_are_read_from_pieces_of_any_size() -> None:
    stream = b"retry: 1000\nid: x#0\ndata: one\n\n:\n\nevent: error\ndata: two\ndata: lines\n\ndata: unfinished"
    for size in (1, 2, 7, 1000):
        events = Events()
        pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert [data for piece in pieces for data in events.feed(piece)] == [b"one", b"two\nlines"]


@pytest.mark.parametrize(("bindings", "row"), [("", FALSE), ('{"__ASK_RETVAL":{"type":"literal","value":"1"}}', TRUE)])
def test_virtuosos_way_to_answer_ask_is_understood(bindings: str, row: str) -> None:
    assert read_rows(b'{"head":{"vars":["__ASK_RETVAL"]},"results":{"bindings":[%b]}}' % bindings.encode()) == [(row,)]


def test_what_are_no_results_is_told() -> None:
    with pytest.raises(TargetFailed, match="no results"):
        read_rows(b"<html>")


@asynchronous
async def test_an_inbox_that_overflows_says_so_after_all_that_it_holds() -> None:
    async def end() -> None: ...

    inbox = Inbox(end, most=2)
    for number in range(4):
        inbox.put(Told(0.0, number, (), ()))
    assert [told.number for told in await heard(inbox, 2)] == [0, 1]
    with pytest.raises(TargetFailed, match="more than 2 notifications"):
        await heard(inbox, 1)


# -- doubles ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("double", "numbers"),
    [
        (right(), [0, 1, 2, 3, 4, 5, 6, 7]),
        (losing(3), [0, 1, 2, 4, 5, 7]),
        (duplicating(3), [0, 1, 2, 3, 3, 4, 5, 6, 6, 7]),
        (swapping(3), [0, 1, 2, 4, 3, 5, 7, 6]),
        (swapping(2), [0, 1, 3, 2, 5, 4, 7, 6]),
        (right(numbered=False), [None] * 8),
    ],
    ids=lambda value: value.description.name if isinstance(value, Double) else "",
)
@asynchronous
async def test_doubles_are_wrong_as_they_should_be(double: Double, numbers: list[int | None]) -> None:
    target: Target = double
    await target.open()
    listening = await target.subscribe(POWERS)
    for number in range(1, 8):
        await target.insert(powers(str(number)))
    told = await heard(listening, len(numbers))
    assert [one.number for one in told] == numbers
    assert all(one.added == ((literal(str(one.number)),),) for one in told if one.number)
    assert len(await target.query(POWERS)) == 7
    await target.clear()
    assert await target.query("ASK { ?s ?p ?o }") == [(FALSE,)]
    await target.close()
    assert (double.opened, double.cleared, double.closed) == (1, 1, 1)


@asynchronous
async def test_a_double_dies_in_the_middle() -> None:
    target: Target = dying(3)
    listening = await target.subscribe(POWERS)
    for number in range(2):
        await target.insert(powers(str(number)))
    with pytest.raises(TargetFailed, match="the last words"):
        await target.insert(powers("3"))
    assert len(await heard(listening, 3)) == 3
    for call in (heard(listening, 1), target.query(POWERS), target.subscribe(POWERS), target.clear()):
        with pytest.raises(TidingsError, match="dying 3 has ended"):
            await call
