"""The update test of the PES paper: the time to insert n triples, n from n_min to n_max by step."""

from collections.abc import AsyncIterator

from tidings.bench.configuration import UpdateTest
from tidings.bench.experiments.listeners import added_value, listen
from tidings.bench.experiments.setting import Surroundings, ms, now
from tidings.bench.results.measured import Measurement
from tidings.bench.targets import Target
from tidings.bench.workloads import m3

_COUNT = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"


async def measure(test: UpdateTest, target: Target, around: Surroundings) -> AsyncIterator[Measurement]:
    listeners = [await listen(target, text, added_value, test.timeout) for text in test.subscriptions]
    sizes = range(test.n_min, test.n_max + 1, test.step)
    done, all_ = 0, len(sizes) * (around.iterations + around.warmup)
    before = await _count(target)
    try:
        for n in sizes:
            samples: list[float] = []
            wrong: list[str] = []
            for iteration in range(around.iterations + around.warmup):
                triples = m3.template(n, first=iteration * test.n_max)
                text = m3.insert(triples) if test.formalism == "m3" else m3.insert_data(triples)
                begun = now()
                await target.update(text)
                elapsed = ms(begun)
                if iteration >= around.warmup:
                    samples.append(elapsed)
                there = await _count(target) - before
                if there != n:
                    wrong.append(f"{n} triples were inserted, and {there} are there")
                await target.update(m3.delete_data(triples))
                done += 1
                around.progress(done, all_, f"{n} triples")
            yield Measurement(
                target=around.target, test=around.test, kind="update", n=n, samples=tuple(samples), wrong=tuple(wrong)
            )
    finally:
        for listener in listeners:
            await listener.end()


async def _count(target: Target) -> int:
    ((count,),) = await target.query(_COUNT)
    return int(str(count).split('"')[1])
