"""The query test of the PES paper: a query once all data are loaded (simple), or after every step of loading
(complex)."""

from collections.abc import AsyncIterator

from tidings.bench.configuration import QueryTest
from tidings.bench.experiments.setting import Surroundings, ms, now
from tidings.bench.results.measured import Measurement
from tidings.bench.targets import Target
from tidings.bench.workloads import m3
from tidings.bench.workloads.knowledge import batches


async def measure(test: QueryTest, target: Target, around: Surroundings) -> AsyncIterator[Measurement]:
    text = m3.query(test.patterns) if test.patterns else test.query
    if test.mode == "simple":
        yield await _asked(test, target, around, text, None, last=True)
        return
    # Complex: the target is empty at first, and the test loads it step by step.
    held = 0
    pending: Measurement | None = None
    async for size in batches(target, around.knowledge.sources, test.step, around.seed):
        if pending is not None:
            yield pending
        held += size
        pending = await _asked(test, target, around, text, held, last=False)
        around.progress(held, 0, f"{held:,} triples")
    if pending is not None:
        yield pending


async def _asked(
    test: QueryTest, target: Target, around: Surroundings, text: str, n: int | None, *, last: bool
) -> Measurement:
    samples: list[float] = []
    counts: set[int] = set()
    for iteration in range(around.iterations + around.warmup):
        begun = now()
        rows = await target.query(text)
        if iteration >= around.warmup:
            samples.append(ms(begun))
        counts.add(len(rows))
        if last:
            around.progress(iteration + 1, around.iterations + around.warmup, f"{len(rows):,} rows")
    wrong = []
    if len(counts) > 1:
        wrong.append(f"the same query had {sorted(counts)} rows")
    if last and test.expect is not None and counts != {test.expect}:
        wrong.append(f"{sorted(counts)} rows instead of {test.expect}")
    return Measurement(
        target=around.target, test=around.test, kind="query", n=n, samples=tuple(samples), wrong=tuple(wrong),
        values={"rows": max(counts)},
    )  # fmt: skip
