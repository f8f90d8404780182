"""Matches events with approximate subscriptions, and notifies the subscribers.

    event    published by a client, or the description of a subject that a commit has touched
    match    by an index over the words of all subscriptions that may see the event; then by the pattern after WHERE
    notify   a note in the log -> (durable) -> a notification with a row for each match

The note has the rows of each subscriber, so a restart repeats them even with other word vectors. Rows are only added,
never removed: an event has happened. Without approximate subscriptions, this module does nothing.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from tidings.broker.approximate.clause import Clause, query_for, read_clause, shown, text_of
from tidings.broker.approximate.description import description, touched
from tidings.broker.durability.commit_log import CommitLog
from tidings.broker.pending import PendingFacts
from tidings.broker.subscriptions.notifier import Notifier
from tidings.broker.subscriptions.registry import Subscriptions
from tidings.broker.subscriptions.subscriber import Parcel, Spuid, Subscriber
from tidings.engine.engine import Engine
from tidings.engine.explain import Explained
from tidings.engine.operators.base import Explanation
from tidings.extras import extra_missing
from tidings.log.entry import Note
from tidings.matching.language.bounds import Bounds
from tidings.matching.language.documents import event_document
from tidings.matching.language.values import Event
from tidings.model.access import ALL_RIGHTS, Graphs, Rights
from tidings.model.errors import GraphNotWritable, NotAllowed, TimeLimitExceeded
from tidings.model.results import Row
from tidings.model.terms import DEFAULT_GRAPH, Quad, Term, iri, literal
from tidings.model.zset import ZSet
from tidings.sparql.evaluate.context import Limits

if TYPE_CHECKING:
    from tidings.matching.matcher.index import SubscriptionIndex
    from tidings.matching.matcher.matcher import Match
    from tidings.matching.matcher.scores import Knowledge

MOST_SUBJECTS = 500
"""How many subjects of one commit are described as events; the others are only counted."""
_JSON = "http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON"
_DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal"


class Words(Struct, frozen=True):
    """Loads what the broker knows about words, and limits the size of events."""

    load: "Callable[[], Knowledge] | None" = None
    bounds: Bounds = Bounds(tuples=1_000)


class Published(Struct, frozen=True):
    """How many events were published, and how many rows they added to subscriptions."""

    events: int
    matched: int


class Matching:
    """The approximate subscriptions of a broker."""

    KINDS = ("matched",)

    def __init__(
        self,
        engine: Engine,
        subscriptions: Subscriptions,
        notifier: Notifier,
        commit_log: CommitLog,
        words: Words,
        limits: Limits,
    ) -> None:
        """`limits` are those of the pattern after WHERE, in processor time, so that a busy machine matches as much."""
        self._engine = engine
        self._subscriptions = subscriptions
        self._notifier = notifier
        self._commit_log = commit_log
        self._words = words
        self._limits = limits
        subscriptions.approximate = self
        self._knowledge: Knowledge | None = None
        self._clauses: dict[Spuid, tuple[Clause, Graphs]] = {}
        self._seeing: dict[Graphs, SubscriptionIndex[Spuid]] = {}
        """The index of subscriptions for each set of graphs: those with the same graphs get the same events."""
        self.events = 0
        self.matches = 0
        self.skipped = 0
        """Subjects that were not described, and patterns that took too long."""

    def __len__(self) -> int:
        return len(self._clauses)

    @property
    def bounds(self) -> Bounds:
        return self._words.bounds

    # -- subscriptions ------------------------------------------------------------------------------------------

    def query_for(self, text: str) -> str:
        """The query that stands for an approximate subscription. Raises what is wrong with the text."""
        if self._subscriptions.external is not None:
            raise NotAllowed("Spark works out the answers here, and does not match approximately")
        return query_for(text, self.bounds, self._engine.core.base)

    @property
    def is_ready(self) -> bool:
        """Whether the word vectors are loaded."""
        return self._knowledge is not None

    async def get_ready(self) -> None:
        """Load the word vectors in a thread. Raises ExtraMissing and the like."""
        if self._knowledge is None:
            self._knowledge = await asyncio.to_thread(self._load)

    def _load(self) -> "Knowledge":
        if self._words.load is None:
            raise extra_missing("approximate subscriptions need word vectors", "matching")
        return self._words.load()

    def enter(self, subscriber: Subscriber) -> None:
        """Add a subscriber to the index of its graphs; do nothing if its subscription is not approximate."""
        text = text_of(subscriber.text)
        if text is None:
            return
        from tidings.matching.matcher.index import SubscriptionIndex

        if self._knowledge is None:
            self._knowledge = self._load()
        self.leave(subscriber)
        clause, graphs = read_clause(text, self.bounds, self._engine.core.base), _visible(subscriber)
        self._clauses[subscriber.spuid] = clause, graphs
        index = self._seeing.setdefault(graphs, SubscriptionIndex(self._knowledge))
        index.add(subscriber.spuid, clause.words)

    def leave(self, subscriber: Subscriber) -> None:
        _, graphs = self._clauses.pop(subscriber.spuid, (None, Graphs.NONE))
        index = self._seeing.get(graphs)
        if index is not None:
            index.remove(subscriber.spuid)
            if not len(index):
                del self._seeing[graphs]

    def explain(self, subscriber: Subscriber) -> Explained | None:
        """How a subscription is matched; None if it is not approximate."""
        found = self._clauses.get(subscriber.spuid)
        if found is None or self._knowledge is None:
            return None
        clause, graphs = found
        threshold = self._knowledge.threshold(clause.words)
        detail = f"{shown(clause.words)}, degree at least {threshold:g}, by {self._knowledge.relatedness.name}"
        inputs: tuple[Explanation, ...] = ()
        if clause.pattern is not None:
            inputs = (Explanation("Pattern", clause.pattern.format(f"?{clause.subject}").strip(), True),)
        return Explained(Explanation("Matching", detail, True, inputs), (), (), 1, len(self._seeing[graphs]))

    # -- events -------------------------------------------------------------------------------------------------

    async def publish(
        self, events: Iterable[Event], graph: Term = DEFAULT_GRAPH, rights: Rights = ALL_RIGHTS
    ) -> Published:
        """Match events of a graph, and wait until the matches are durable and sent. Raises GraphNotWritable."""
        if not rights.write.has(graph):
            raise GraphNotWritable(graph)
        self._commit_log.check()
        told: list[tuple[Spuid, Row]] = []
        number = 0
        for event in events:
            number += 1
            for graphs in list(self._seeing):
                if graphs.has(graph):
                    told += self._matched(event, graphs)
            await asyncio.sleep(0)  # let the event loop do other work
        if told:
            await self._note(told)
        return Published(number, len(told))

    def advance(self, delta: ZSet[Quad]) -> None:
        """Match the subjects that a commit has touched. The commit is in the journal already."""
        told: list[tuple[Spuid, Row]] = []
        for graphs in list(self._seeing):
            subjects = touched((quad for quad, _ in delta.items()), graphs)
            self.skipped += max(0, len(subjects) - MOST_SUBJECTS)
            for subject in list(subjects)[:MOST_SUBJECTS]:
                event = description(self._engine.store, subject, graphs, self.bounds.tuples)
                if event is not None:
                    told += self._matched(event, graphs)
        if told:
            self._note(told).add_done_callback(_forget)

    def _matched(self, event: Event, graphs: Graphs) -> Iterator[tuple[Spuid, Row]]:
        self.events += 1
        index = self._seeing.get(graphs)
        for spuid, match in index.match(event) if index is not None else ():
            clause, _ = self._clauses[spuid]
            for row in self._exact(spuid, clause, event):
                self.matches += 1
                yield spuid, (*row, *_columns(clause, event, match))

    def _exact(self, spuid: Spuid, clause: Clause, event: Event) -> list[Row]:
        """The rows of the pattern after WHERE; without a pattern, one row with the subject."""
        subject = None if event.id is None else iri(event.id)
        if clause.pattern is None:
            return [(subject,)]
        subscriber = self._subscriptions.get(spuid)
        if subject is None or subscriber is None:
            return []
        try:
            return self._engine.first_answer(
                clause.pattern.format(subject), subscriber.dataset, now=self._commit_log.now(), limits=self._limits,
                rights=subscriber.rights,
            )  # fmt: skip
        except TimeLimitExceeded:
            self.skipped += 1
            return []

    # -- notifications ------------------------------------------------------------------------------------------

    def _note(self, told: list[tuple[Spuid, Row]]) -> "asyncio.Future[None]":
        now = self._commit_log
        content = {"commit": now.last_commit, "time": now.now(), "told": [[spuid, list(row)] for spuid, row in told]}
        note = Note("matched", content)
        durable: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._commit_log.notes((note,), PendingFacts((note,), durable))
        return durable

    def restore(self, note: Note) -> None:
        """Matches are durable: notify the subscribers of their rows."""
        rows: dict[str, Counter[Row]] = {}
        for spuid, row in note.content["told"]:
            rows.setdefault(spuid, Counter())[tuple(row)] += 1
        for spuid, added in rows.items():
            subscriber = self._subscriptions.get(spuid)
            if subscriber is not None:
                subscriber.turns += 1  # of two with one commit, the later has the greater number
                self._notifier.tell(subscriber, self._parcel(subscriber, note, ZSet.owning(dict(added))))

    def _parcel(self, subscriber: Subscriber, note: Note, added: ZSet[Row]) -> Parcel:
        commit, time = note.content["commit"], note.content["time"]
        return Parcel(commit, time, subscriber.handle.variables, added, turn=subscriber.turns)

    def notes(self) -> Iterable[Note]:
        """None: the subscribers' own notes have their notifications."""
        return ()


def _columns(clause: Clause, event: Event, match: "Match") -> Row:
    from tidings.matching.matcher.telling import mapping_document

    mappings = [mapping_document(clause.words, event, each) for each in match.mappings]
    return (
        literal(msgspec.json.encode(event_document(event)).decode(), _JSON),
        literal(f"{match.degree:.4f}", _DECIMAL),
        literal(msgspec.json.encode(mappings).decode(), _JSON),
    )


def _visible(subscriber: Subscriber) -> Graphs:
    """The graphs that the subscriber may subscribe to and that its dataset names."""
    graphs, dataset = subscriber.rights.subscribe, subscriber.dataset
    if dataset is None:
        return graphs
    return graphs & Graphs(names=frozenset((*(dataset.default or ()), *(dataset.named or ()))))


def _forget(durable: "asyncio.Future[None]") -> None:
    """Retrieve the error, if any, so that asyncio does not report it: the publisher of the commit gets it elsewhere."""
    if not durable.cancelled():
        durable.exception()
