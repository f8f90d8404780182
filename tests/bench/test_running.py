"""The suite measured: on targets that are right, and on some that are wrong in a way that is known."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench import doubles
from bench.doubles import Double
from tidings.bench import running
from tidings.bench.configuration import (
    Benchmark,
    ChatTest,
    Knowledge,
    LightingTest,
    MixedTest,
    QueryTest,
    SoakTest,
    StressTest,
    SubscriptionTest,
    Test,
    UpdateTest,
)
from tidings.bench.experiments.listeners import tally
from tidings.bench.experiments.open_loop import offer
from tidings.bench.report.findings import findings
from tidings.bench.results.json import read_run, write_run
from tidings.bench.results.measured import Run
from tidings.bench.targets.errors import TargetFailed
from tidings.client.errors import Refused
from tidings.protocol.errors import Refusal
from waiting import asynchronous, until

Saved = Callable[[Run], None]


def benchmark(tests: dict[str, Test], *names: str, **settings: Any) -> Benchmark:
    return Benchmark(
        targets={name: {"kind": "double"} for name in names or ("right",)},
        tests=tests,
        **{"iterations": 2, "warmup": 1, **settings},
    )


@pytest.fixture(autouse=True)
def targets(monkeypatch: pytest.MonkeyPatch) -> dict[str, Double]:
    """Targets by name: doubles, instead of what the configuration says."""
    known = {
        "right": doubles.right(),
        "losing": doubles.losing(3),
        "duplicating": doubles.duplicating(3),
        "swapping": doubles.swapping(3),
        "haunted": doubles.haunted(),
        "dying": doubles.dying(5),
    }
    monkeypatch.setattr(running, "make", lambda name, _: known[name])
    return known


async def run(chosen: Benchmark, saved: Saved = lambda _: None) -> Run:
    return await running.run(chosen, saved=saved, progress=lambda *_: None)


@asynchronous
async def test_every_kind_of_test_measures_a_target_that_is_right() -> None:
    tests: dict[str, Test] = {
        "update": UpdateTest(n_min=5, n_max=15, step=5),
        "update-m3": UpdateTest(n_min=5, n_max=5, step=5, formalism="m3", subscriptions=("SELECT * { ?s ?p ?o }",)),
        "simple": QueryTest(query="SELECT ?s { ?s ?p ?o }", expect=None),
        "m3": QueryTest(patterns=(("*", "*", "*"),)),
        "complex": QueryTest(query="SELECT ?s { ?s ?p ?o }", mode="complex", step=2000),
        "same": SubscriptionTest(subscribers=(1, 3)),
        "different": SubscriptionTest(subscribers=(2,), different=True, iterations=4),
        "stress": StressTest(subscribers=2, start=50, steps=2, seconds=0.1, p99_ms=10_000_000),
        "mixed": MixedTest(factor=0.01, rate=100, seconds=0.2),
        "lighting": LightingTest(factor=0.01),
        "chat": ChatTest(messages=3, to_oneself=3),
        "soak": SoakTest(seconds=0.3, rate=50, subscribers=2),
    }
    result = await run(benchmark(tests, knowledge=Knowledge(("city:0.01",), 1000)))
    assert result.troubles == []
    assert [each.wrong for each in result.measurements if each.wrong] == []
    assert result.complete
    found = {each.test for each in result.measurements}
    assert {"lighting-LAMP", "lighting-ROAD", "chat-SEND", "chat-REMOVE", "chat-to-oneself"} <= found
    assert {"update", "update-m3", "simple", "m3", "complex", "same", "different", "stress", "mixed", "soak"} <= found
    assert [each.n for each in result.of("update")] == [5, 10, 15]
    assert all(len(each.samples) == 2 for each in result.of("update"))
    assert len({each.n for each in result.of("complex")}) > 1
    assert result.kpis["same"]["right"]["loss_ratio"] == 0
    assert result.kpis["lighting-LAMP"]["right"]["Ups"] > 0


@pytest.mark.parametrize(
    ("name", "fault"), [("losing", "lost"), ("duplicating", "duplicates"), ("swapping", "disordered")]
)
@asynchronous
async def test_a_broker_that_tells_wrongly_is_caught_and_its_ratios_are_right(name: str, fault: str) -> None:
    # Notifications 3, 6 and 9 of nine are wrong; the last can only be swapped with one that never comes.
    test = SubscriptionTest(subscribers=(2,), iterations=9, warmup=0, timeout=0.2)
    result = await run(benchmark({"loss": test}, name))
    (measurement,) = result.of("loss")
    assert measurement.values["expected"] == 18
    assert measurement.values[fault] >= 2 * 2
    assert measurement.wrong
    assert any(fault in what or "lost" in what for what in measurement.wrong)
    if name == "losing":
        assert measurement.values["loss_ratio"] == pytest.approx(6 / 18)
        assert measurement.values["duplicates"] == measurement.values["disordered"] == 0
    if name == "duplicating":
        assert (measurement.values["duplicates"], measurement.values["lost"]) == (6, 0)
    assert "loss" not in result.kpis, "what is wrong has no meaning as a time"


@asynchronous
async def test_a_broker_that_tells_old_values_is_reported_and_measured_all_the_same() -> None:
    tests: dict[str, Test] = {
        "same": SubscriptionTest(subscribers=(2,)),
        "stress": StressTest(subscribers=1, start=50, steps=1, seconds=0.1, p99_ms=10_000_000),
        "mixed": MixedTest(factor=0.001, rate=50, seconds=0.1),
        "lighting": LightingTest(factor=0.001, experiments=("LAMP",)),
        "chat": ChatTest(messages=1, to_oneself=2),
        "soak": SoakTest(seconds=0.1, rate=50),
    }
    result = await run(benchmark(tests, "haunted"))
    assert result.troubles == []
    assert [each.wrong for each in result.measurements if each.wrong] == []
    assert [each.test for each in result.measurements if each.values.get("stale")] == [
        "same", "stress", "mixed", "lighting-LAMP", "soak"
    ]  # fmt: skip
    assert all(each.values.get("lost", 0) == 0 for each in result.measurements)
    told = [finding for finding in findings(result) if finding.about == "Delivery"]
    assert len(told) == 1
    assert told[0].warning
    assert "values that no update of the test had written" in told[0].text


@asynchronous
async def test_one_iteration_without_warming_up_loses_nothing() -> None:
    test = SubscriptionTest(subscribers=(1, 2, 3), timeout=0.2)
    result = await run(benchmark({"same": test}, iterations=1, warmup=0))
    assert [(each.values["expected"], each.values["lost"], each.wrong) for each in result.of("same")] == [
        (1, 0, ()), (2, 0, ()), (3, 0, ())
    ]  # fmt: skip


@asynchronous
async def test_what_a_target_says_of_an_error_is_cut_short(
    targets: dict[str, Double], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(_: str) -> None:
        raise Refused(Refusal("refused", 500, "the beginning" + "x" * 700_000 + "the end"))

    monkeypatch.setattr(targets["right"], "update", refuse)
    result = await run(benchmark({"update": UpdateTest(n_min=1, n_max=1, step=1)}))
    (trouble,) = result.troubles
    assert len(trouble.what) < 2_100
    assert trouble.what.startswith("the beginningx")
    assert "characters left out" in trouble.what
    assert trouble.what.endswith("xthe end")


@asynchronous
async def test_a_target_that_dies_leaves_what_was_measured_and_a_clear_word(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    tests: dict[str, Test] = {"update": UpdateTest(n_min=1, n_max=5, step=1), "query": QueryTest(query="ASK {}")}
    chosen = benchmark(tests, "dying", "right", iterations=1, warmup=0)
    result = await run(chosen, saved=lambda so_far: write_run(path, so_far))
    assert {each.target for each in result.troubles} == {"dying"}
    assert all(each.what for each in result.troubles)
    assert not result.complete
    assert [each.target for each in result.of("update")].count("right") == 5
    assert 0 < [each.target for each in result.of("update")].count("dying") < 5
    assert read_run(path).measurements == result.measurements


@asynchronous
async def test_a_target_that_cannot_be_reached_does_not_keep_the_others_from_being_measured(
    targets: dict[str, Double], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse() -> None:
        raise TargetFailed("nobody there")

    monkeypatch.setattr(targets["losing"], "open", refuse)
    result = await run(benchmark({"query": QueryTest(query="ASK {}")}, "losing", "right"))
    assert [(each.target, each.what) for each in result.troubles] == [("losing", "nobody there")]
    assert [each.target for each in result.measurements] == ["right"]


@asynchronous
async def test_a_run_that_is_interrupted_keeps_what_it_has(targets: dict[str, Double]) -> None:
    kept: list[Run] = []
    tests: dict[str, Test] = {
        "update": UpdateTest(n_min=1, n_max=1, step=1),
        "soak": SoakTest(seconds=60, rate=1, subscribers=1),
    }
    task = asyncio.create_task(run(benchmark(tests), saved=kept.append))
    await until(lambda: kept)
    before = targets["right"].updates
    await until(lambda: targets["right"].updates > before)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [each.test for each in kept[-1].measurements] == ["update"]
    assert [each.what for each in kept[-1].troubles] == ["interrupted"]
    assert targets["right"].closed == 1


@asynchronous
async def test_a_stall_is_seen_by_everything_that_was_meant_to_leave_meanwhile() -> None:
    """Coordinated omission: with one request at a time, only one would have seen it."""
    stalled = asyncio.Event()

    async def send(number: int) -> None:
        if number == 5:
            await asyncio.sleep(0.2)
            stalled.set()
        elif number > 5:
            await stalled.wait()

    load = await offer(send, rate=200, seconds=0.1)
    late = [number for number, at in load.answered.items() if at - load.meant[number] > 0.05]
    assert len(load.meant) == 20
    assert set(late) >= set(range(6, 15))


@pytest.mark.parametrize(
    ("wanted", "got", "counts"),
    [
        (["1", "2", "3"], ["1", "2", "3"], (3, 0, 0, 0, 0)),
        (["1", "2", "3"], ["1", "3"], (2, 1, 0, 0, 0)),
        (["1", "2", "3"], ["1", "1", "2", "3", "3"], (3, 0, 2, 0, 0)),
        (["1", "2", "3"], ["2", "1", "3"], (3, 0, 0, 1, 0)),
        (["1"], ["7"], (0, 1, 0, 0, 1)),
        ([], [], (0, 0, 0, 0, 0)),
    ],
)
def test_notifications_are_counted_as_received_lost_doubled_out_of_order_and_old(
    wanted: list[str], got: list[str], counts: tuple[int, ...]
) -> None:
    found = tally([(wanted, got)])
    assert (found.received, found.lost, found.duplicates, found.disordered, found.stale) == counts
