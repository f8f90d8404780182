"""First answers that take longer than a slice of the loop: found in a fork, while everything else goes on."""

import asyncio
from collections import Counter
from collections.abc import Iterator

import pytest

from gates.client import connected
from gates.wire import Broker, serving
from plain import calls
from waiting import PATIENCE, asynchronous

pytestmark = pytest.mark.server
ALL = "SELECT ?s ?o WHERE { ?s <p> ?o }"


@pytest.fixture(scope="module", params=["in memory", "on disk"])
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker for which everything takes too long for the loop."""
    storage = ("--memory",) if request.param == "in memory" else ()
    folder = tmp_path_factory.mktemp("broker")
    with serving(folder, "--slice", "0.0000001", "--max-rows", "1000", *storage) as broker:
        yield broker


@pytest.fixture
def broker(running: Broker) -> Broker:
    """It begins with nothing in it."""
    running.update("CLEAR ALL")
    return running


@pytest.mark.parametrize(
    "query",
    [
        ALL,
        "ASK { <a> <p> 3 }",
        "SELECT (COUNT(?o) AS ?n) WHERE { ?s <p> ?o }",
        "SELECT ?s ?o WHERE { ?s <p> ?o } ORDER BY ?o LIMIT 2",
        "SELECT DISTINCT ?s WHERE { ?s <p> ?o }",
        "SELECT ?s (SUM(?o) AS ?n) WHERE { ?s <p> ?o } GROUP BY ?s",
        "CONSTRUCT { ?o <q> ?s } WHERE { ?s <p> ?o }",
    ],
)
@asynchronous
async def test_changes_that_happen_meanwhile_come_after_the_first_answer_and_lead_to_the_right_one(
    broker: Broker, query: str
) -> None:
    await asyncio.to_thread(broker.update, "INSERT DATA { <a> <p> 1 , 2 }")
    async with connected(broker) as subscriber, connected(broker) as publisher:
        subscriber.send({"subscribe": {"sparql": query, "alias": "it"}})
        for number in range(3, 10):
            await publisher.update(f"INSERT DATA {{ <a> <p> {number} }} ; DELETE DATA {{ <a> <p> {number - 2} }}")
        fresh = await publisher.ask({"query": {"sparql": query, "alias": "fresh"}})
        wanted = fresh["response"]
        follower_answer: Counter[tuple[str, ...]] = Counter()
        numbers = []
        async with asyncio.timeout(PATIENCE):
            while True:
                notification = (await subscriber.next())["notification"]
                numbers.append(notification["sequence"])
                for member, weight in (("addedResults", 1), ("removedResults", -1)):
                    for row in notification[member]["results"]["bindings"]:
                        follower_answer[tuple(sorted(cell["value"] for cell in row.values()))] += weight
                if +follower_answer == expected(wanted):
                    break
        assert numbers == list(range(len(numbers)))
        assert min(follower_answer.values(), default=0) >= 0


def expected(response: dict[str, object]) -> Counter[tuple[str, ...]]:
    if "boolean" in response:
        return Counter([(str(response["boolean"]).lower(),)])
    bindings = response["results"]["bindings"]  # type: ignore[index]
    return Counter(tuple(sorted(cell["value"] for cell in row.values())) for row in bindings)


@pytest.mark.parametrize(
    "query",
    [
        ALL,
        "SELECT ?s WHERE { ?s <p> ?o OPTIONAL { ?o <q> ?r } FILTER NOT EXISTS { ?s <q> ?o } }",
        "SELECT DISTINCT ?s WHERE { ?s <p> ?o }",
        "SELECT ?s (COUNT(?o) AS ?n) WHERE { ?s <p> ?o } GROUP BY ?s ORDER BY ?n LIMIT 1",
    ],
)
@asynchronous
async def test_a_first_answer_is_found_once(broker: Broker, query: str) -> None:
    await asyncio.to_thread(broker.update, "INSERT DATA { <a> <p> 1 , 2 }")
    async with connected(broker) as client:
        before = await made(broker)
        await client.follow(query)
        assert await made(broker) - before == 1


async def made(broker: Broker) -> int:
    """Forks for anything but subscriptions that were here before, all of which are up to date now."""
    found: list[int] = []

    def is_at_rest() -> bool:
        status = calls.get(f"{broker.http}/status", timeout=PATIENCE).json()
        found.append(status["forks"]["made"] - status["subscriptions"]["aside"])
        return bool(status["subscriptions"]["behind"] == 0)

    async with asyncio.timeout(PATIENCE):
        while not await asyncio.to_thread(is_at_rest):
            await asyncio.sleep(0.05)
    return found[-1]


@asynchronous
async def test_a_first_answer_that_is_too_large_is_refused_and_leaves_nothing(broker: Broker) -> None:
    rows = " ".join(f"<s{number}> <p> {number} ." for number in range(1100))
    await asyncio.to_thread(broker.update, f"INSERT DATA {{ {rows} }}")
    async with connected(broker) as client:
        answer = await client.ask({"subscribe": {"sparql": ALL, "alias": "it"}})
        assert (answer["error"], answer["alias"]) == ("row_limit_exceeded", "it")
        follower = await client.follow("SELECT ?o WHERE { <s1> <p> ?o }", "small")
        assert follower.answer == Counter([("1",)])


@asynchronous
async def test_a_client_that_leaves_before_its_first_answer_holds_nobody_up(broker: Broker) -> None:
    async with connected(broker) as client:
        client.send({"subscribe": {"sparql": ALL, "alias": "it"}})
    async with connected(broker) as other:
        follower = await other.follow(ALL)
        await asyncio.to_thread(broker.update, "INSERT DATA { <a> <p> 1 }")
        await follower.hear()
        assert len(follower.answer) == 1


@asynchronous
async def test_a_subscription_ends_by_its_alias_before_its_first_answer_is_found(broker: Broker) -> None:
    """The first answer comes first; one that has no subscription any more, or never had, is told so."""
    async with connected(broker) as socket:
        socket.send({"subscribe": {"sparql": ALL, "alias": "hasty"}})
        socket.send({"unsubscribe": {"alias": "hasty"}})
        socket.send({"unsubscribe": {"alias": "nobody"}})
        assert (await socket.next())["alias"] == "nobody"
        first = (await socket.next())["notification"]
        assert (first["alias"], first["sequence"]) == ("hasty", 0)
        assert (await socket.next())["unsubscribed"] == {"spuid": first["spuid"], "alias": "hasty"}
        again = await socket.ask({"unsubscribe": {"alias": "hasty"}})
        assert again["error"] == "bad_message"


@asynchronous
async def test_whoever_ends_a_subscription_that_is_refused_later_is_told_so(broker: Broker) -> None:
    for start in range(0, 1_100, 100):
        rows = " ".join(f"<s> <p> {number} ." for number in range(start, start + 100))
        await asyncio.to_thread(broker.update, f"INSERT DATA {{ {rows} }}")
    async with connected(broker) as socket:
        socket.send({"subscribe": {"sparql": ALL, "alias": "large"}})
        socket.send({"unsubscribe": {"alias": "large"}})
        told = [await socket.next(), await socket.next()]
        assert [(each["error"], each["alias"]) for each in told] == [
            ("row_limit_exceeded", "large"),
            ("bad_message", "large"),
        ]
