"""Matching in Python workers: each builds the index of all subscriptions once, and then matches many events.

The output has a row for each match, and one for each partition with counters. The subscriptions are sent with the task.
The task opens the files about words on its own machine, so they have to be there.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from tidings.lexicons.backends import Backend, load_knowledge
from tidings.lexicons.taxonomies import read_taxonomy
from tidings.matching.language.documents import event_document, event_of, subscription_of
from tidings.matching.language.values import Event, Subscription
from tidings.matching.matcher.index import SubscriptionIndex
from tidings.matching.matcher.matcher import Match
from tidings.matching.matcher.scores import Knowledge
from tidings.matching.matcher.telling import mapping_document
from tidings.matching.taxonomy.classification import Classifier
from tidings.matching.taxonomy.clustered import ClusteredIndex
from tidings.matching.taxonomy.clusters import Clustering, Clusters
from tidings.model.errors import BadRequest, RequestTooComplex, TidingsError
from tidings.spark.errors import WorkerError

SCHEMA = "subscription string, degree double, event string, mappings string, tally string"
_ARROW = pa.schema([(name, pa.float64() if kind == "double" else pa.string())
                    for name, kind in (column.split() for column in SCHEMA.split(", "))])  # fmt: skip
_TOGETHER = 2_000
Row = tuple[str | None, float | None, str | None, str | None, str | None]


class Spec(msgspec.Struct, frozen=True):
    """The input of a worker: subscriptions as JSON documents by their keys, and which files about words to use."""

    subscriptions: dict[str, Any]
    backend: str = Backend.STATIC.value
    index: str | None = None
    wordnet: str | None = None
    moby: str | None = None
    clusters: str | None = None
    """A `Clustering`: match within clusters only, and count the matches that this loses."""
    taxonomy: str | None = None
    level: int = 2
    lenient: bool = False
    """Leave out events that cannot be read, and count them."""


class Tally(msgspec.Struct, frozen=True):
    """The counters of a job. With clusters, `kept` pairs share a topic, and `matches_kept` of these match."""

    events: int = 0
    unreadable: int = 0
    pairs: int = 0
    looked_at: int = 0
    matches: int = 0
    kept: int = 0
    matches_kept: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        ours, theirs = msgspec.structs.astuple(self), msgspec.structs.astuple(other)
        return Tally(*(one + two for one, two in zip(ours, theirs, strict=True)))


class Prepared(NamedTuple):
    subscriptions: dict[str, Subscription]
    matcher: SubscriptionIndex[str] | ClusteredIndex[str]


def worker(spec: Spec) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A function for mapInArrow, on batches with a column of events as JSON."""
    encoded = msgspec.json.encode(spec)

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield from _matched(prepared(encoded), batches, lenient=spec.lenient)
        except TidingsError as error:
            raise WorkerError(error) from error

    return work


@lru_cache(maxsize=1)
def prepared(encoded: bytes) -> Prepared:
    """The subscriptions and their index, built once for each process and job."""
    spec = msgspec.json.decode(encoded, type=Spec)
    index_of, wordnet, moby = map(_path, (spec.index, spec.wordnet, spec.moby))
    knowledge = load_knowledge(Backend(spec.backend), index=index_of, wordnet=wordnet, moby=moby)
    subscriptions = {key: subscription_of(document) for key, document in spec.subscriptions.items()}
    index: SubscriptionIndex[str] | ClusteredIndex[str] = SubscriptionIndex(knowledge)
    if spec.clusters is not None:
        index = _clustered(spec, Clustering(spec.clusters), knowledge)
    for key, subscription in subscriptions.items():
        index.add(key, subscription)
    return Prepared(subscriptions, index)


def _clustered(spec: Spec, clustering: Clustering, knowledge: Knowledge) -> ClusteredIndex[str]:
    classifier = Classifier(read_taxonomy(_path(spec.taxonomy)), knowledge.relatedness, spec.level)
    return ClusteredIndex(knowledge, Clusters(classifier, clustering))


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _matched(ready: Prepared, batches: Iterator[pa.RecordBatch], *, lenient: bool) -> Iterator[pa.RecordBatch]:
    rows: list[Row] = []
    total = Tally()
    before = ready.matcher.looked_at
    for batch in batches:
        for document in batch.column(0).to_pylist():
            try:
                event = event_of(msgspec.json.decode(document))
            except (msgspec.DecodeError, BadRequest, RequestTooComplex) as error:
                if not lenient:
                    raise BadRequest(f"an event cannot be read: {error}; it begins with {document[:80]!r}") from error
                total += Tally(unreadable=1)
                continue
            found, tally = _one(ready, event)
            total += tally
            rows += found
            if len(rows) >= _TOGETHER:
                yield _batch(rows)
                rows = []
    total += Tally(looked_at=ready.matcher.looked_at - before)
    rows.append((None, None, None, None, msgspec.json.encode(total).decode()))
    yield _batch(rows)


def _one(ready: Prepared, event: Event) -> tuple[list[Row], Tally]:
    """The rows of the matches of an event, and its counters. With clusters, lost matches are in the counters only."""
    index = ready.matcher
    pairs = len(index)
    if isinstance(index, SubscriptionIndex):
        found = index.match(event)
        tally = Tally(1, 0, pairs, 0, len(found), pairs, len(found))
    else:
        kept, lost = index.kept, index.lost
        found = index.match(event)
        tally = Tally(1, 0, pairs, 0, len(found) + index.lost - lost, index.kept - kept, len(found))
    if not found:
        return [], tally
    text = msgspec.json.encode(event_document(event)).decode()
    return [_row(key, ready.subscriptions[key], event, match, text) for key, match in found], tally


def _row(key: str, subscription: Subscription, event: Event, match: Match, text: str) -> Row:
    mappings = [mapping_document(subscription, event, each) for each in match.mappings]
    return key, match.degree, text, msgspec.json.encode(mappings).decode(), None


def _batch(rows: list[Row]) -> pa.RecordBatch:
    columns = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), _ARROW, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW)
