"""Random policies and random histories, through the gates: what a client was told, folded, is always the query over
exactly the graphs that it may subscribe to at that commit; what it is answered, over those that it may read."""

import json
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gates.client import Client, Follower, Row, connected, rows
from gates.doors import Listener
from gates.secured import A, B, House, secured
from gates.sockets import asynchronous
from oracles.recomputation import recomputed
from strategies.access import only
from strategies.examples import share
from tidings.engine.store.store import Store
from tidings.model.access import Graphs
from tidings.model.graph_patterns import graphs
from tidings.model.iris import DEFAULT_BASE
from tidings.model.terms import lexical_form
from waiting import until

HEAD = """
issuer = "http://localhost:8000"
tokens = {algorithm = "Ed25519", seconds = 600, leeway = 0}
hashes = {passes = 1, kibibytes = 8, lanes = 1}
logins = {by_address = {burst = 1000, per_second = 1000}}
identity = [{identity = "*"}]

[[grant]]
to = "client:boss"
subscribe = ["*"]
update = ["*"]
administer = true
"""
TEXTS = (
    "SELECT ?g ?s ?o { GRAPH ?g { ?s <p> ?o } }",
    "SELECT ?s ?o { { ?s <p> ?o } UNION { GRAPH ?g { ?s <p> ?o } } }",
    "SELECT ?s (COUNT(*) AS ?n) { GRAPH ?g { ?s <p> ?o } } GROUP BY ?s",
    f"SELECT ?s ?o FROM <{A}> FROM <{B}> FROM NAMED <{B}> {{ ?s <p> ?o MINUS {{ GRAPH ?g {{ ?s <p> ?o }} }} }}",
    f"SELECT ?s ?o {{ GRAPH <{A}> {{ ?s <p> ?o }} MINUS {{ GRAPH <{B}> {{ ?s <p> ?o }} }} }}",
    "SELECT (COUNT(DISTINCT ?g) AS ?n) { GRAPH ?g { } }",
)
PATTERNS = st.lists(st.sampled_from((A, B, "default", "http://city.example/*", "*")), max_size=2, unique=True)


class Grants:
    """What the one client may do, as it is written."""

    def __init__(self, query: list[str], subscribe: list[str]) -> None:
        self.written = {"query": query, "subscribe": subscribe}
        self.subscribe = graphs(subscribe)
        self.read = graphs(query) | self.subscribe

    def __repr__(self) -> str:
        return f"Grants{self.written}"

    def text(self) -> str:
        lines = "\n".join(f"{name} = {json.dumps(found)}" for name, found in self.written.items() if found)
        return HEAD + (f'\n[[grant]]\nto = "client:listener"\n{lines}\n' if lines else "")


_grants = st.builds(Grants, PATTERNS, PATTERNS)
_quads = st.tuples(st.sampled_from("st"), st.integers(0, 2), st.sampled_from(("", A, B))).map(
    lambda q: f"<{q[0]}> <p> {q[1]}" if not q[2] else f"GRAPH <{q[2]}> {{ <{q[0]}> <p> {q[1]} }}"
)
_updates = st.tuples(st.sampled_from(("INSERT DATA", "INSERT DATA", "DELETE DATA")), _quads).map(
    lambda u: f"{u[0]} {{ {u[1]} }}"
)
_steps = st.lists(st.one_of(_updates, _updates, _grants), min_size=2, max_size=12)


def wanted(text: str, store: Store, seen: Graphs) -> Counter[Row]:
    """The answer over these graphs, in the plain texts of its terms."""
    found = recomputed(text, only(store, seen), base=DEFAULT_BASE)
    return Counter({tuple(term and lexical_form(term) for term in row): count for row, count in found.items()})


class Scene:
    """One client with a socket and an event stream, while its rights and the data change."""

    def __init__(self, house: House, text: str, stack: AsyncExitStack) -> None:
        self.house, self.text, self.stack = house, text, stack
        self.grants = Grants([], ["*"])
        self.socket: Client
        self.told: Follower | None = None
        self.heard: tuple[Listener, Follower] | None = None

    async def begin(self) -> None:
        self.token, self.boss = await self.house.newcomer("listener"), await self.house.newcomer("boss")
        self.socket = await self.stack.enter_async_context(connected(self.house))
        await self.subscribe()

    async def subscribe(self) -> None:
        """By both gates, where it has nothing yet and may have it."""
        if self.told is None:
            self.told = Follower("it")
            self.told.take(await self.socket.ask({"subscribe": {"sparql": self.text, "alias": "it"}} | self._shown()))
        if self.heard is None:
            answer = await self.stack.enter_async_context(
                self.house.http.stream(
                    "GET", "/subscribe", params={"query": self.text, "alias": "it"}, headers=self._headers()
                )
            )
            assert answer.status_code == 200
            self.heard = Listener(answer), Follower("it")
            self.heard[1].take((await self.heard[0].next()).data)

    def _shown(self) -> dict[str, str]:
        return {"authorization": self.token}

    def _headers(self) -> dict[str, str]:
        return {"authorization": self.token}

    async def update(self, text: str) -> None:
        headers = {"authorization": self.boss}
        answer = await self.house.http.post("/update", data={"update": text}, headers=headers)
        assert answer.status_code == 200, answer.text

    async def change(self, grants: Grants, file: Path) -> None:
        self.grants = grants
        file.write_text(grants.text())
        await self.house.security.read_again()
        subscriptions = self.house.broker.subscriptions
        await until(lambda: all(each.rights.subscribe == grants.subscribe for each in subscriptions))

    async def catch_up(self) -> None:
        """Take everything that was sent: on the socket, up to the answer to another question."""
        self.socket.send({"query": {"sparql": "ASK {}", "alias": "marker"}} | self._shown())
        while True:
            message = await self.socket.next()
            if "unsubscribed" in message:
                assert not self.grants.subscribe
                assert message["unsubscribed"]["reason"]
                self.told = None
            elif "notification" in message:
                assert self.told is not None
                self.told.take(message)
            else:
                assert message.get("alias") == "marker" or message["response"]["alias"] == "marker"
                break
        if self.heard is not None:
            await self._hear(*self.heard)

    async def _hear(self, stream: Listener, follower: Follower) -> None:
        """Every event, up to the last that there is."""
        subscriber = self.house.broker.subscriptions.get(follower.spuid)
        while subscriber is None or follower.told < subscriber.sequence:
            event = await stream.next()
            if event.name == "error":
                assert event.data["error"] == "may_not_subscribe"
                assert not self.grants.subscribe
                self.heard = None
                return
            follower.take(event.data)

    async def check(self) -> None:
        store = self.house.broker.store
        expected = wanted(self.text, store, self.grants.subscribe)
        for follower in (self.told, self.heard and self.heard[1]):
            assert (follower is None) == (not self.grants.subscribe)
            if follower is not None:
                assert +follower.answer == expected
        answer = await self.house.http.post("/query", data={"query": self.text}, headers=self._headers())
        assert answer.status_code == 200, answer.text
        assert Counter(rows(answer.json())) == wanted(self.text, store, self.grants.read)
        for quad in await self._logged():
            assert self.grants.read.has(quad["g"])

    async def _logged(self) -> list[dict[str, Any]]:
        answer = await self.house.http.get("/log", headers=self._headers())
        return [json.loads(line) for line in answer.text.splitlines() if line]


@share(15)
@given(text=st.sampled_from(TEXTS), steps=_steps)
def test_what_a_client_is_told_and_answered_is_always_of_the_graphs_that_it_may_see(
    text: str, steps: list[str | Grants]
) -> None:
    with TemporaryDirectory() as folder:
        live(Path(folder), text, steps)


@asynchronous
async def live(folder: Path, text: str, steps: list[str | Grants]) -> None:
    async with (
        secured(folder, Grants([], ["*"]).text(), data=str(folder / "data"), durability="os") as house,
        AsyncExitStack() as stack,
    ):
        scene = Scene(house, text, stack)
        await scene.begin()
        for step in steps:
            if isinstance(step, Grants):
                await scene.change(step, folder / "security.toml")
            else:
                await scene.update(step)
            await scene.catch_up()
            if scene.grants.subscribe:
                await scene.subscribe()
            await scene.check()
