"""Every target does the same things in the same words, in processes of their own: each is started once."""

import asyncio
import functools
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass

import pytest

from bench.targets import BROKERS, LAMP, NAME, POWER, POWERS, STORES, heard, opened, powers, server
from tidings.bench.targets import Target
from tidings.bench.targets.kinds import make
from tidings.bench.targets.wire.rows import comparable
from tidings.client import Refused
from tidings.model.terms import FALSE, TRUE, XSD, literal
from waiting import PATIENCE, asynchronous

each_broker = pytest.mark.parametrize("place", BROKERS, indirect=True)
each_target = pytest.mark.parametrize("place", BROKERS | STORES, indirect=True)


@dataclass(frozen=True)
class Place:
    """A target that runs, and the loop that it was opened on."""

    name: str
    target: Target
    runner: asyncio.Runner


@pytest.fixture(scope="module")
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    running = opened((BROKERS | STORES)[request.param])
    with asyncio.Runner() as runner:
        yield Place(request.param, runner.run(running.__aenter__()), runner)
        runner.run(running.__aexit__(None, None, None))


def conversation(test: Callable[[Place], Coroutine[None, None, None]]) -> Callable[[Place], None]:
    """A test of a target in which there is nothing, on its loop."""

    @functools.wraps(test)
    def run(place: Place) -> None:
        async def limited() -> None:
            async with asyncio.timeout(5 * PATIENCE):
                await place.target.clear()
                await test(place)

        place.runner.run(limited())

    return run


@server
@each_target
@conversation
async def test_what_is_inserted_updated_and_cleared_is_seen_by_queries(place: Place) -> None:
    target = place.target
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
@conversation
async def test_rows_are_spelt_alike_by_all_targets(place: Place) -> None:
    kept = ('"a \\"b\\"\\n"', f'"7"^^<{XSD}integer>', '"été"', LAMP)
    target = place.target
    await target.insert([(LAMP, NAME, each) for each in (*kept, '"hi"@EN-gb', '"_:x"', "_:x")])
    rows = await target.query(f"SELECT ?name ?none WHERE {{ {LAMP} {NAME} ?name }}")
    expected = [(each, None) for each in (*kept, '"hi"@en-gb', '"_:x"', "_:")]
    assert comparable(rows) == dict.fromkeys(expected, 1)


@server
@each_target
@conversation
async def test_a_subscription_tells_the_whole_answer_first_and_then_the_changes(place: Place) -> None:
    target = place.target
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
@conversation
async def test_brokers_tell_every_change_in_order_to_every_subscriber(place: Place) -> None:
    target = place.target
    listening = [await target.subscribe(POWERS) for _ in range(5)]
    for number in range(20):
        await target.insert(powers(str(number)))
    for each in listening:
        told = await heard(each, 21)
        assert [one.number for one in told] == list(range(21))
        assert [one.added for one in told[1:]] == [((literal(str(number)),),) for number in range(20)]
        await each.end()


@server
@each_target
@conversation
async def test_targets_say_what_they_are_and_how_much_memory_they_have(place: Place) -> None:
    target = place.target
    described = target.description
    assert described.name == "it"
    assert described.address.startswith("http://127.0.0.1:")
    assert "serve" in described.details["command"]
    assert ((await target.memory()) or 0) > 1_000_000
    assert target.offers.polls == (place.name in STORES)


@server
@each_target
@conversation
async def test_timing_components_are_told_by_tidings_and_by_nobody_else(place: Place) -> None:
    target = place.target
    before = await target.components()
    assert bool(before) == target.offers.components == (place.name in {"ws", "http", "sse", "naive", "context"})
    listening = await target.subscribe(POWERS)
    await target.insert(powers("40"))
    after = await target.components()
    grown = {key for key in after if after[key] > before[key]}
    if target.offers.components:
        assert {"T_UPDATE", "T_LUTT", "T_BOOSTER", "T_NOTIFY", "requests", "commits", "hits", "notified"} <= grown
    await listening.end()


@server
@each_target
@conversation
async def test_what_is_not_sparql_is_refused_and_harms_nobody(place: Place) -> None:
    target = place.target
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
