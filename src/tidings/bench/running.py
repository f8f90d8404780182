"""Runs a benchmark: every test on every target, one after the other, and saves the results again and again.

If a target does not start, or dies, the run reports a trouble, keeps the measurements of that target so far, and goes
on with the other targets.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any, assert_never

import msgspec

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
from tidings.bench.experiments import chat, lighting, loads, queries, subscriptions, updates
from tidings.bench.experiments.setting import Surroundings
from tidings.bench.results.json import git_state, machine, versions
from tidings.bench.results.kpis import kpis
from tidings.bench.results.measured import Measurement, Run, Trouble
from tidings.bench.results.performance_model import predictions
from tidings.bench.targets import Target
from tidings.bench.targets.kinds import make
from tidings.bench.workloads.knowledge import load
from tidings.model.errors import TidingsError
from tidings.protocol.errors import brief

Saved = Callable[[Run], None]
Progress = Callable[[str, str, float, float, str], None]
"""Called with target, test, the amount of work done, the total, and a description."""


async def run(benchmark: Benchmark, *, saved: Saved, progress: Progress) -> Run:
    """Run a benchmark; all its results. It calls `saved` whenever there are new results, and at the end."""
    begun = time.perf_counter()
    result = Run(
        name=benchmark.name,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        seed=benchmark.seed,
        machine=machine(),
        versions=versions(),
        git=git_state(),
        configuration=msgspec.to_builtins(benchmark),
        targets={},
    )
    try:
        for name, settings in benchmark.targets.items():
            await _measure_target(benchmark, name, settings, result, saved, progress)
        result.complete = not result.troubles
    finally:
        result.seconds = time.perf_counter() - begun
        result.kpis = kpis(result)
        result.predictions = predictions(result)
        saved(result)
    return result


async def _measure_target(
    benchmark: Benchmark, name: str, settings: dict[str, Any], result: Run, saved: Saved, progress: Progress
) -> None:
    target = make(name, settings)
    progress(name, "", 0, 0, "opening")
    try:
        await target.open()
    except TidingsError as error:
        result.troubles.append(Trouble(target=name, test="", what=brief(str(error))))
        saved(result)
        return
    try:
        result.targets[name] = msgspec.to_builtins(target.description)
        for test_name, test in benchmark.tests.items():
            if not test.targets or name in test.targets:
                await _measure_test(benchmark, test_name, test, name, target, result, saved, progress)
    finally:
        await target.close()


async def _measure_test(
    benchmark: Benchmark,
    name: str,
    test: Test,
    target_name: str,
    target: Target,
    result: Run,
    saved: Saved,
    progress: Progress,
) -> None:
    around = Surroundings(
        test=name,
        target=target_name,
        iterations=test.iterations or benchmark.iterations,
        warmup=benchmark.warmup if test.warmup is None else test.warmup,
        seed=benchmark.seed,
        knowledge=_knowledge(benchmark, test),
        progress=lambda done, all_, what: progress(target_name, name, done, all_, what),
    )
    if reason := _impossible(test, target):
        result.troubles.append(Trouble(target=target_name, test=name, what=reason))
        return
    try:
        await target.clear()
        if not (isinstance(test, QueryTest) and test.mode == "complex"):
            await load(
                target,
                around.knowledge.sources,
                batch=around.knowledge.batch,
                seed=benchmark.seed,
                progress=lambda done, all_, what: progress(target_name, name, done, all_, f"loading {what}"),
            )
        async for measurement in _measurements(test, target, around):
            result.measurements.append(measurement)
            saved(result)
    except (TidingsError, TimeoutError, OSError) as error:
        what = "it did not answer in time" if isinstance(error, TimeoutError) else brief(str(error))
        result.troubles.append(Trouble(target=target_name, test=name, what=what))
        saved(result)
    except asyncio.CancelledError:
        result.troubles.append(Trouble(target=target_name, test=name, what="interrupted"))
        raise


def _knowledge(benchmark: Benchmark, test: Test) -> Knowledge:
    if test.knowledge is not None:
        return test.knowledge
    if isinstance(test, LightingTest | MixedTest):
        return Knowledge((f"city:{test.factor:g}",), benchmark.knowledge.batch)
    if isinstance(test, ChatTest | SoakTest | StressTest):
        return Knowledge()
    return benchmark.knowledge


def _impossible(test: Test, target: Target) -> str:
    offers = target.offers
    if (
        isinstance(test, SubscriptionTest | StressTest | MixedTest | LightingTest | SoakTest)
        and not offers.subscriptions
    ):
        return "it has no subscriptions"
    if isinstance(test, UpdateTest | ChatTest) and not offers.updates:
        return "it takes no updates"
    return ""


def _measurements(test: Test, target: Target, around: Surroundings) -> AsyncIterator[Measurement]:
    match test:
        case UpdateTest():
            return updates.measure(test, target, around)
        case QueryTest():
            return queries.measure(test, target, around)
        case SubscriptionTest():
            return subscriptions.measure(test, target, around)
        case StressTest():
            return loads.stress(test, target, around)
        case MixedTest():
            return loads.mixed(test, target, around)
        case SoakTest():
            return loads.soak(test, target, around)
        case LightingTest():
            return lighting.measure(test, target, around)
        case ChatTest():
            return chat.measure(test, target, around)
        case _:
            assert_never(test)
