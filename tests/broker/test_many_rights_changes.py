"""Rights of one who has many subscriptions: these have their turns a few at a time, and each is exact at its own."""

import asyncio

from broker.making import BASE, Client, Clock, in_memory, settled
from tidings.broker.broker import Broker
from tidings.broker.subscriptions.rights_changes import AT_ONCE
from tidings.broker.updates.queue import LONG_TEXT
from tidings.model.access import Graphs, Rights
from waiting import asynchronous, until

EVERY = "SELECT ?g ?s ?o { GRAPH ?g { ?s <p> ?o } }"
DATA = "INSERT DATA { <s> <p> 0 GRAPH <a> { <s> <p> 1 } GRAPH <b> { <s> <p> 2 } }"
MORE = "INSERT DATA { GRAPH <a> { <t> <p> 3 } GRAPH <b> { <t> <p> 4 } }"
MANY = 10 * AT_ONCE + 5


def some(*names: str, prefixes: tuple[str, ...] = ()) -> Rights:
    graphs = Graphs(names=frozenset(f"<{BASE}{name}>" for name in names), prefixes=prefixes)
    return Rights(read=graphs, subscribe=graphs)


ONLY_A, A_AND_B, BY_PREFIX = some("a"), some("a", "b"), some(prefixes=(BASE,))


async def many(broker: Broker) -> Client:
    await broker.update(DATA)
    anna = Client(broker, "anna", A_AND_B)
    for number in range(MANY):
        anna.subscribe(EVERY.replace("?o }", f"?o FILTER(?o != {number + 10}) }}"))
    await settled(broker)
    assert len(anna.known) == MANY
    return anna


def moved(broker: Broker, rights: Rights) -> int:
    return sum(each.rights == rights for each in broker.subscriptions)


@asynchronous
async def test_many_subscriptions_have_their_turns_a_few_at_a_time_and_the_loop_goes_on(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        anna = await many(broker)
        broker.rights_changed("anna", ONLY_A, "revoked")
        anna.rights = ONLY_A
        assert moved(broker, ONLY_A) == AT_ONCE
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert AT_ONCE < moved(broker, ONLY_A) < MANY
        await until(lambda: moved(broker, ONLY_A) == MANY)
        anna.check()
        assert {tuple(sorted(set(map(str, known.reasons)))) for known in anna.known.values()} == {("revoked",)}


@asynchronous
async def test_updates_wait_until_nobody_is_told_what_they_may_not_see_any_more(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        anna = await many(broker)
        broker.rights_changed("anna", ONLY_A, "revoked")
        anna.rights = ONLY_A
        await broker.update(MORE)
        assert moved(broker, ONLY_A) == MANY
        anna.check()


@asynchronous
async def test_and_so_does_an_update_that_was_being_worked_out_in_a_fork(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        anna = await many(broker)
        update = asyncio.create_task(broker.update(MORE + "#" * LONG_TEXT))
        await until(lambda: broker.updates.aside)
        broker.rights_changed("anna", ONLY_A, "revoked")
        anna.rights = ONLY_A
        assert not update.done()
        await update
        assert moved(broker, ONLY_A) == MANY
        anna.check()


@asynchronous
async def test_what_was_due_is_not_any_more_once_rights_change_again(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        anna = await many(broker)
        broker.rights_changed("anna", ONLY_A, "revoked")
        broker.rights_changed("anna", BY_PREFIX, "granted")
        anna.rights = BY_PREFIX
        await until(lambda: moved(broker, BY_PREFIX) == MANY)
        anna.check()
        assert sum("revoked" in known.reasons for known in anna.known.values()) == AT_ONCE


@asynchronous
async def test_what_goes_on_elsewhere_or_has_ended_has_no_turn(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        anna = await many(broker)
        first, (ended, *_, elsewhere) = anna.line.session, list(anna.known)
        broker.rights_changed("anna", ONLY_A, "revoked", first)
        anna.unsubscribe(ended)
        other = Client(broker, "anna", A_AND_B)  # another token, which is of more use
        other.known[elsewhere] = anna.known.pop(elsewhere)
        other.resume(elsewhere)
        anna.rights = ONLY_A
        await until(lambda: moved(broker, ONLY_A) == MANY - 2)
        anna.check()
        other.check()
        assert other.only.resumed == [True]


@asynchronous
async def test_a_subscription_whose_plan_cannot_be_changed_ends_and_the_others_go_on(clock: Clock) -> None:
    async with in_memory(clock) as broker:
        anna = await many(broker)
        odd = list(anna.known)[AT_ONCE + 1]
        broker.find(odd).text = "nonsense"
        broker.rights_changed("anna", ONLY_A, "revoked")
        await until(lambda: moved(broker, ONLY_A) == MANY - 1)
        assert list(anna.line.dismissed) == [odd]
        assert anna.line.dismissed[odd].startswith("revoked: ")
        assert odd not in {each.spuid for each in broker.subscriptions}
