"""The subscription test of the PES paper: time to notification, loss, duplicates and order, for n subscribers."""

from collections.abc import AsyncIterator, Iterator
from itertools import count

from tidings.bench.configuration import SubscriptionTest
from tidings.bench.experiments.listeners import Listener, added_text, listen, tally
from tidings.bench.experiments.setting import Surroundings, ms, now
from tidings.bench.results.measured import Measurement
from tidings.bench.targets import Target


async def measure(test: SubscriptionTest, target: Target, around: Surroundings) -> AsyncIterator[Measurement]:
    values = count(1)  # each value is new, because writing the same value again causes no notification
    for n in test.subscribers:
        subscribed = [number if test.different else 0 for number in range(n)]
        listeners: list[Listener] = []
        try:
            for number in subscribed:
                query = test.query.replace("{i}", str(number))
                listeners.append(await listen(target, query, added_text, test.timeout))
            yield await _measured(test, target, around, n, subscribed, listeners, values)
        finally:
            for listener in listeners:
                await listener.end()


async def _measured(
    test: SubscriptionTest,
    target: Target,
    around: Surroundings,
    n: int,
    subscribed: list[int],
    listeners: list[Listener],
    values: Iterator[int],
) -> Measurement:
    samples: list[float] = []
    wanted: list[list[str]] = [[] for _ in listeners]
    rounds = around.iterations + around.warmup
    for iteration in range(rounds):
        number = iteration % n if test.different else 0
        value = str(next(values))
        begun = now()
        await target.update(test.update.replace("{i}", str(number)).replace("{v}", value))
        for place, listener in enumerate(listeners):
            if subscribed[place] != number:
                continue
            wanted[place].append(value)
            at = await listener.heard(value, test.timeout)
            if at is not None and iteration >= around.warmup:
                samples.append(ms(begun, at))
        around.progress(iteration + 1, rounds, f"{n} subscribers")
    counted = tally(
        [(want, [mark for mark, _ in listener.marks]) for want, listener in zip(wanted, listeners, strict=True)]
    )
    return Measurement(
        target=around.target, test=around.test, kind="subscription", n=n, samples=tuple(samples),
        values=counted.values(), wrong=_complaints(counted.values(), polls=target.offers.polls),
    )  # fmt: skip


def _complaints(values: dict[str, float], *, polls: bool) -> tuple[str, ...]:
    """The errors in the counts. A target that polls may miss changes between two polls; other targets may not."""
    found = [f"{values[what]:.0f} notifications {what}" for what in ("duplicates", "disordered") if values[what]]
    if values["lost"] and not polls:
        found.append(f"{values['lost']:.0f} of {values['expected']:.0f} notifications lost")
    return tuple(found)
