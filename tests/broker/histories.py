"""Histories of a broker: publishers, clients that come and go, delayed updates, snapshots and crashes, in any order."""

import asyncio
import os
import shutil
import signal
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias
from unittest import mock

from hypothesis import strategies as st

from broker.making import BASE, Client, Clock, Known, Line, full_disk, in_memory, long, opened, quads_of, settled
from tidings.broker.broker import Broker
from tidings.broker.errors import UnknownDelayed
from tidings.broker.subscriptions.subscriber import Spuid
from tidings.broker.updates import queue as room
from tidings.log.entry import Entry
from tidings.log.errors import LogWriteFailed
from tidings.model.access import ALL_RIGHTS, Graphs, Rights
from tidings.model.terms import Quad

Step: TypeAlias = tuple[Any, ...]

QUERIES = (
    "SELECT ?s ?o { ?s <p> ?o }",
    "SELECT ?o { <s1> <p> ?o }",
    "SELECT ?o { <s2> <p> ?o }",
    "ASK { <s1> <p> ?o }",
    "SELECT (COUNT(*) AS ?n) { ?s <p> ?o }",
    "SELECT ?s ?o { ?s <p> ?o } ORDER BY ?o LIMIT 2",
    "SELECT ?a ?b { ?a <p> ?o . ?b <p> ?o }",
    "SELECT ?s ?o ?q { ?s <p> ?o OPTIONAL { ?o <q> ?q } }",
    "SELECT ?n { <counter> <is> ?n }",
)
COUNT = "DELETE { <counter> <is> ?x } INSERT { <counter> <is> ?y } WHERE { <counter> <is> ?x BIND(?x + 1 AS ?y) }"
"""What every delayed update does: so it can be seen how often they were carried out."""

RIGHTS = (
    ALL_RIGHTS,
    *(Rights(read=some, subscribe=some) for some in (Graphs(names=frozenset(("",))), Graphs(prefixes=(BASE,)))),
)
"""Everything, the default graph, which is where everything is, and everything but that."""

_texts = st.builds(
    str.format,
    st.sampled_from(
        (
            "INSERT DATA {{ <s{0}> <p> {1} }}",
            "INSERT DATA {{ <s{0}> <p> {1} , {0} . {1} <q> {0} }}".replace("{1} <q> {0}", "<s{1}> <q> {0}"),
            "DELETE DATA {{ <s{0}> <p> {1} }}",
            "DELETE WHERE {{ <s{0}> <p> ?o }}",
            "DELETE {{ ?s <p> ?o }} INSERT {{ ?s <p> {1} }} WHERE {{ ?s <p> ?o FILTER(?o != {1}) }}",
        )
    ),
    st.integers(1, 2),
    st.integers(1, 3),
)
_one = st.tuples(st.just("update"), _texts)
_wait = st.tuples(st.sampled_from(("turn", "settle")))


def _one_after_the_other(*steps: st.SearchStrategy[Step]) -> st.SearchStrategy[list[Step]]:
    return st.tuples(*steps).map(list)


def _of(client: int) -> st.SearchStrategy[list[Step]]:
    """What happens to a client: single steps, and those that only mean something together."""

    def step(name: str) -> st.SearchStrategy[Step]:
        return st.just((name, client))

    return st.one_of(
        _one_after_the_other(st.sampled_from(("lose", "cut off", "notice", "back", "fill", "drain")).flatmap(step)),
        _one_after_the_other(step("back"), _wait, step("fill"), _one, _one, _wait, step("drain")),
        _one_after_the_other(
            step("fill"), _one, _one, _wait, st.sampled_from(("lose", "cut off", "drain")).flatmap(step), step("back")
        ),
        _one_after_the_other(step("back"), _wait, step("lose"), _one, _one, step("back")),
        _one_after_the_other(step("back"), _wait, step("cut off"), _one, step("back"), step("notice")),
        _one_after_the_other(step("back"), step("lose")),
        _one_after_the_other(st.tuples(st.just("rights"), st.just(client), st.sampled_from(RIGHTS))),
        _one_after_the_other(
            st.tuples(st.just("rights"), st.just(client), st.sampled_from(RIGHTS)),
            _one,
            st.tuples(st.just("rights"), st.just(client), st.sampled_from(RIGHTS)),
            _wait,
            st.sampled_from(("lose", "cut off", "drain", "fill")).flatmap(step),
        ),
        _one_after_the_other(st.tuples(st.just("subscribe"), st.just(client), st.sampled_from(QUERIES))),
        _one_after_the_other(st.tuples(st.just("unsubscribe"), st.just(client), st.integers(0, 5))),
    )


_gentle: list[st.SearchStrategy[list[Step]]] = [
    _one_after_the_other(_one),
    _of(0),
    _of(1),
    _one_after_the_other(
        st.one_of(
            st.tuples(st.just("delay"), st.integers(0, 3)),
            st.tuples(st.just("cancel"), st.integers(0, 3)),
            st.tuples(st.just("pass by"), st.integers(0, 3)),
        )
    ),
    _one_after_the_other(_wait),
]
_rough: list[st.SearchStrategy[list[Step]]] = [
    *_gentle,
    _one_after_the_other(st.tuples(st.sampled_from(("crash", "snapshot", "snapshot begins")))),
    st.one_of(_gentle[0], _of(0), _gentle[-1]).map(lambda steps: [("disk full",), *steps, ("turn",), ("disk works",)]),
    _one_after_the_other(st.tuples(st.just("long update"), _texts)),
    st.just([("settle",), ("crash",)]),
    st.just([("snapshot",), ("crash",)]),
]


def _flat(parts: list[list[Step]]) -> list[Step]:
    return [step for part in parts for step in part]


gentle_histories = st.lists(st.one_of(_gentle), min_size=8, max_size=30).map(_flat)
histories = st.lists(st.one_of(_rough), min_size=8, max_size=30).map(_flat)


class Scene:
    """A broker and two clients living through a history."""

    def __init__(self, clock: Clock, broker: Broker, folder: Path | None, settings: dict[str, Any]) -> None:
        self.clock = clock
        self.settings = settings
        self.folder = folder
        self.crashes = 0
        self.stale: dict[int, list[Line]] = {0: [], 1: []}
        self.away = {0: False, 1: False}
        self.promised: set[Quad] = set()
        self.tasks: list[asyncio.Task[Any]] = []
        self.delays: list[str] = []
        self.accepted = 0
        self.disk = ExitStack()
        self.troubled = False
        self._watch(broker)
        self.clients = [Client(broker, "anna"), Client(broker, "berta")]

    def opened(self, path: Path) -> Broker:
        return opened(self.clock, path, **self.settings)

    def _watch(self, broker: Broker) -> None:
        self.broker = broker
        broker.follow(self._promise)

    def _promise(self, commit: Entry) -> None:
        """A commit is durable."""
        self.promised.difference_update(commit.delta.removed())
        self.promised.update(commit.delta.added())

    async def live(self, history: list[Step]) -> None:
        await self.broker.update("INSERT DATA { <counter> <is> 0 }")
        for client in self.clients:
            client.subscribe(QUERIES[0])
        for name, *arguments in history:
            await getattr(self, name.replace(" ", "_"))(*arguments)
        await self.end()

    async def end(self) -> None:
        """Everybody comes back, has room, and is up to date."""
        await self.disk_works()
        await self.settle()
        for number, client in enumerate(self.clients):
            if self.away[number]:
                await self.back(number)
            client.drain()
        await self.settle()
        for number, client in enumerate(self.clients):
            assert not self.away[number]
            client.check()

    # -- steps --------------------------------------------------------------------------------------------------

    async def update(self, text: str) -> None:
        self.broker.submit(text, None, lambda _: None)

    async def long_update(self, text: str) -> None:
        self.broker.submit(long(text), None, lambda _: None)

    async def disk_full(self) -> None:
        self.troubled = True
        self.disk.enter_context(full_disk())

    async def disk_works(self) -> None:
        self.disk.close()

    async def subscribe(self, number: int, text: str) -> None:
        if not self.away[number] and len(self.clients[number].known) < 3:
            self.clients[number].subscribe(text)

    async def unsubscribe(self, number: int, which: int) -> None:
        client = self.clients[number]
        mine = [each for each in client.known if each in client.line.session.subscribers]
        if mine and not self.away[number]:
            client.unsubscribe(mine[which % len(mine)])

    async def lose(self, number: int) -> None:
        if not self.away[number]:
            self.away[number] = True
            self.clients[number].lose()

    async def cut_off(self, number: int) -> None:
        """The client is cut off; the broker has not noticed yet."""
        if not self.away[number]:
            self.away[number] = True
            line = self.clients[number].line
            line.down = True
            self.stale[number].append(line)

    async def notice(self, number: int) -> None:
        if self.stale[number]:
            self.broker.disconnect(self.stale[number].pop(0).session)

    async def back(self, number: int) -> None:
        if self.away[number]:
            self.away[number] = False
            client = self.clients[number]
            client.come_back(self.broker)
            for spuid in list(client.known):
                client.resume(spuid)

    async def rights(self, number: int, rights: Rights) -> None:
        """What a client may read changes, and so does everything that it was told."""
        client = self.clients[number]
        client.rights = rights
        self.broker.rights_changed(client.owner, rights, "changed")

    async def fill(self, number: int) -> None:
        if not self.away[number]:
            self.clients[number].fill()

    async def drain(self, number: int) -> None:
        if not self.away[number]:
            self.clients[number].drain()

    async def delay(self, seconds: int) -> None:
        at = self.clock.micros + seconds * 1_000_000
        with suppress(LogWriteFailed):
            self.delays.append((await self.broker.delay(COUNT, None, at)).id)
            self.accepted += 1

    async def cancel(self, which: int) -> None:
        await self.settle()  # whether any is carried out is decided
        waiting = [each.id for each in self.broker.schedule]
        if waiting:
            with suppress(LogWriteFailed, UnknownDelayed):
                await self.broker.cancel_delayed(waiting[which % len(waiting)])
                self.accepted -= 1

    async def pass_by(self, seconds: int) -> None:
        self.clock.pass_by(seconds)
        self.broker.run_due()

    async def turn(self) -> None:
        await asyncio.sleep(0)

    async def settle(self) -> None:
        await asyncio.gather(*self.tasks)
        self.tasks.clear()
        await settled(self.broker)
        assert quads_of(self.broker) == self.promised
        self._check_counter()
        await self._let_go()
        for number, client in enumerate(self.clients):
            if not self.away[number] and not client.line.session.full:
                client.check()

    async def _let_go(self) -> None:
        """Whoever was closed, or refused because of the disk, has to come back."""
        for number, client in enumerate(self.clients):
            assert self.troubled or not (client.errors or client.line.closed)
            if client.errors or client.line.closed:
                client.errors.clear()
                await self.lose(number)
        await settled(self.broker)

    def _check_counter(self) -> None:
        """Delayed updates are carried out once."""
        done = self.accepted - len(self.broker.schedule)
        integer = "http://www.w3.org/2001/XMLSchema#integer"
        assert (f"<{BASE}counter>", f"<{BASE}is>", f'"{done}"^^<{integer}>', "") in self.broker.store

    async def snapshot(self) -> None:
        if self.broker.snapshots and not self.broker.snapshots.running:
            await self.broker.snapshots.write()

    async def snapshot_begins(self) -> None:
        if self.broker.snapshots and not self.broker.snapshots.running:
            self.tasks.append(asyncio.create_task(self.broker.snapshots.write()))

    async def crash(self) -> None:
        """The broker dies here and now, and is started again on what the disk has."""
        if self.folder is None:
            return
        await self.disk_works()
        before = self.broker
        self.crashes += 1
        copy = self.folder / str(self.crashes)
        for child in before.forks.running:
            os.kill(child, signal.SIGKILL)
            os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        shutil.copytree(self.folder / str(self.crashes - 1), copy)
        waiting = [each.id for each in before.schedule]
        alive = {each.spuid for each in before.subscriptions}
        up_to_date = self._up_to_date()
        await self._abandon()
        broker = self.opened(copy)
        assert quads_of(broker) == self.promised
        assert [each.id for each in broker.schedule] == waiting
        for client in self.clients:
            for spuid, known in client.known.items():
                if spuid in alive and not self.troubled:
                    assert broker.subscriptions.find(spuid).sequence >= known.sequence
                known.resumed.clear()
        self._watch(broker)
        await broker.__aenter__()
        for client in self.clients:  # what was being changed when it died is what counts from its start
            broker.rights_changed(client.owner, client.rights, "changed")
        for number in (0, 1):
            await self.back(number)
        await self.settle()
        for client in self.clients:
            for known in client.known.values():
                assert known.resumed in ([True], [False])
                assert known.resumed == [True] or known not in up_to_date or self.troubled

    def _up_to_date(self) -> list[Known]:
        """Those who have seen everything that was numbered: they must not need a fresh answer."""
        numbers = {each.spuid: each.sequence for each in self.broker.subscriptions}
        return [
            known
            for client in self.clients
            for known in client.known.values()
            if numbers.get(Spuid(known.spuid)) == known.sequence
        ]

    async def _abandon(self) -> None:
        """Nobody hears of this broker any more, and nothing it does counts."""
        self.broker.commit_log.followers.clear()
        for client in self.clients:
            client.line.down = True
        self.stale = {0: [], 1: []}
        self.away = {0: True, 1: True}
        await self.broker.__aexit__()
        await asyncio.gather(*self.tasks)
        self.tasks.clear()


def lived_through(
    history: list[Step], *, crashes: bool, troubled: bool = False, durability: str = "os", **bounds: Any
) -> None:
    """Have a broker live through a history, in a folder if it is to survive crashes. Where it is `troubled`, clients
    may have to come back for fresh answers."""

    async def story() -> None:
        clock = Clock()
        with TemporaryDirectory() as folder:
            settings = {"durability": durability, **bounds}
            broker = opened(clock, Path(folder) / "0", **settings) if crashes else in_memory(clock, **bounds)
            scene = Scene(clock, broker, Path(folder) if crashes else None, settings)
            scene.troubled = troubled
            await broker.__aenter__()
            try:
                await scene.live(history)
            finally:
                scene.disk.close()
                await scene.broker.__aexit__()

    with mock.patch.object(room, "LONG_TEXT", 100):
        asyncio.run(story())
