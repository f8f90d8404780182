"""Carries out the requests of agents. The answers are JSON objects, sized for a context window."""

from collections import Counter
from hashlib import blake2b
from typing import Any, assert_never

import orjson

from tidings.broker.broker import Broker
from tidings.broker.subscriptions.subscriber import Parcel, Subscriber
from tidings.gates.caller import Caller
from tidings.gates.mcp.errors import AnswerTooLong
from tidings.gates.mcp.requests import (
    Cancel,
    Changes,
    Explain,
    Query,
    Request,
    Unwatch,
    Update,
    Vocabulary,
    Watch,
    Watches,
)
from tidings.gates.mcp.sizing import Short, exact_writer, fitting, table, table_writer
from tidings.gates.mcp.vocabulary import CLASSES, PREDICATES, described
from tidings.gates.mcp.watches import (
    MOST_ROWS,
    Rows,
    Told,
    difference,
    look_note,
    told_note,
    unwatch_note,
    watch_note,
)
from tidings.gates.mcp.watches import Watch as Kept
from tidings.gates.mcp.watches import Watches as Keeper
from tidings.gates.mcp.watching import Watching, address_of
from tidings.model.results import Row, Solutions
from tidings.model.terms import Quad
from tidings.protocol.instants import read_due, shown

Json = dict[str, Any]
MOST_SHOWN = 100
"""Quads of a dry run that are told one by one, of each kind."""


class Desk:
    """For all agents; each request comes with the caller whose it is."""

    def __init__(self, broker: Broker, watches: Keeper, watching: Watching) -> None:
        self._broker = broker
        self._watches = watches
        self._watching = watching

    async def carry_out(self, request: Request, caller: Caller) -> Json:
        """Raises TidingsError."""
        match request:
            case Query(sparql, limit, offset):
                return await self._json(caller, sparql, limit, offset)
            case Update():
                return await self._update(request, caller)
            case Cancel(delayed):
                return {"cancelled": (await caller.cancel(delayed)).id}
            case Vocabulary(limit):
                return await self._vocabulary(limit, caller)
            case Watch():
                return await self._watch(request, caller)
            case Changes():
                return await self._changes(request, caller)
            case Unwatch(name):
                return await self._unwatch(name, caller)
            case Watches():
                return await self._listed(caller)
            case Explain(sparql):
                return await self._explain(sparql, caller)
            case _:
                assert_never(request)

    # -- the graph ------------------------------------------------------------------------------------------------

    async def _json(self, caller: Caller, text: str, limit: int, offset: int) -> Json:
        answer = orjson.loads(await caller.query(text, None, table_writer(limit, offset)))
        assert isinstance(answer, dict)
        return answer

    async def _update(self, request: Update, caller: Caller) -> Json:
        due = read_due(request.at, request.delay)
        if request.dry_run:
            return await self._rehearse(request, caller)
        if due is not None:
            delayed = await caller.delay(request.sparql, due)
            return {"delayed": delayed.id, "at": shown(delayed.at)}
        done = await caller.update(request.sparql)
        return {"commit": done.commit, "added": done.added, "removed": done.removed}

    async def _rehearse(self, request: Update, caller: Caller) -> Json:
        rehearsal = await caller.rehearse(request.sparql)
        short = Short()
        counts = {"added": rehearsal.added, "removed": rehearsal.removed}
        would = {"add": _quads(rehearsal.add, short), "remove": _quads(rehearsal.remove, short)}
        note = "nothing was done; call again with dry_run false to do it"
        return {"dry_run": True, **counts, **would, "prefixes": short.used, "note": note}

    async def _vocabulary(self, limit: int, caller: Caller) -> Json:
        found = []
        for text in (CLASSES, PREDICATES):
            answer = orjson.loads(await caller.query(f"{text} LIMIT {limit + 1}", None, exact_writer(limit + 1)))
            found.append([row for row in answer["rows"] if None not in row])
        return described(found[0], found[1], limit)

    async def _explain(self, text: str, caller: Caller) -> Json:
        begun: list[Subscriber] = []

        def first(subscriber: Subscriber, _: Parcel, __: bool | None) -> None:
            begun.append(subscriber)

        subscriber = await caller.subscribe(text, None, first)
        try:
            return {"plan": self._broker.explain(subscriber, subscriber.rights).to_text()}
        finally:
            await caller.unsubscribe(subscriber.spuid)

    # -- watches --------------------------------------------------------------------------------------------------

    async def _watch(self, request: Watch, caller: Caller) -> Json:
        owner = (await caller.identify()).subject
        self._watches.check_room(owner, request.name)
        address = address_of(owner, request.name)
        known = next((each for each in self._watches.of(owner) if each.name == request.name), None)
        if known is not None and known.text == request.sparql:
            return {"watching": request.name, "resource": address, "since": "before", "seen": known.seen.total()}
        columns, now = await self._answer(caller, request.sparql)
        seen: Rows = Counter() if request.everything else now
        watch = Kept(owner, request.name, request.sparql, columns, seen)
        await self._watching.begin(watch)
        await self._broker.facts.write(watch_note(watch))
        told = table(Solutions(columns, list(now.elements())), request.limit)
        return {"watching": request.name, "resource": address, "since": "now", **told}

    async def _changes(self, request: Changes, caller: Caller) -> Json:
        owner = (await caller.identify()).subject
        watch = self._watches.find(owner, request.name)
        if watch.told is not None and watch.told.cursor == request.after:
            await self._broker.facts.write(look_note(watch))
        _, now = await self._answer(caller, watch.text)
        return await self._tell(watch, difference(now, watch.seen), request.limit)

    async def _tell(self, watch: Kept, changed: list[tuple[bool, Row]], limit: int) -> Json:
        short = Short()
        rows, more = fitting((short.row(row) for _, row in changed), limit)
        told = changed[: len(rows)]
        came: Rows = Counter(row for is_new, row in told if is_new)
        went: Rows = Counter(row for is_new, row in told if not is_new)
        cursor = _cursor(watch, told)
        if told and (watch.told is None or watch.told.cursor != cursor):
            await self._broker.facts.write(told_note(watch, Told(cursor, came, went)))
        gone = sum(not is_new for is_new, _ in told)
        content: Json = {"columns": list(watch.columns), "removed": rows[:gone], "added": rows[gone:]}
        if more:
            content["more"] = len(changed) - len(told)
        return content | {"cursor": cursor} | ({"prefixes": short.used} if short.used else {})

    async def _unwatch(self, name: str, caller: Caller) -> Json:
        owner = (await caller.identify()).subject
        watch = self._watches.find(owner, name)
        await self._broker.facts.write(unwatch_note(watch))
        await self._watching.end((owner, name))
        return {"ended": name}

    async def _listed(self, caller: Caller) -> Json:
        owner = (await caller.identify()).subject
        return {"watches": [described_watch(watch) for watch in self._watches.of(owner)]}

    async def read(self, name: str, caller: Caller) -> Json:
        """The answer of a watch as it is now, for those who read it as a resource."""
        watch = self._watches.find((await caller.identify()).subject, name)
        return await self._json(caller, watch.text, 1_000, 0)

    async def _answer(self, caller: Caller, text: str) -> tuple[tuple[str, ...], Rows]:
        answer = orjson.loads(await caller.query(text, None, exact_writer(MOST_ROWS)))
        if len(answer["rows"]) > MOST_ROWS:
            raise AnswerTooLong(MOST_ROWS)
        return tuple(answer["columns"]), Counter(tuple(row) for row in answer["rows"])


def described_watch(watch: Kept) -> Json:
    return {"name": watch.name, "sparql": watch.text, "resource": address_of(watch.owner, watch.name)}


def _quads(quads: tuple[Quad, ...], short: Short) -> list[list[str | None]]:
    rows = (short.row(quad if quad[3] else quad[:3]) for quad in quads)
    return fitting(rows, MOST_SHOWN)[0]


def _cursor(watch: Kept, told: list[tuple[bool, Row]]) -> str:
    """The same for the same rows of the same look, and for no others."""
    digest = blake2b(orjson.dumps([[is_new, *row] for is_new, row in told]), digest_size=6).hexdigest()
    return f"{watch.looks + 1}-{digest}"
