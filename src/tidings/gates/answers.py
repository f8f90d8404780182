"""Turns outcomes of the broker into answers of the protocol, for every gate that speaks the Subscribe language."""

from collections.abc import Sequence
from typing import Any

from tidings.broker.broker import Broker
from tidings.broker.subscriptions.subscriber import Parcel, Subscriber
from tidings.broker.updates.accepted import Done, Outcome
from tidings.broker.updates.schedule import Delayed
from tidings.matching.language.documents import event_of
from tidings.model.access import Rights
from tidings.model.errors import RequestTooComplex
from tidings.model.terms import Term
from tidings.protocol import notifications as wire
from tidings.protocol.answers import DelayedAccepted, EventsPublished, UpdateDone
from tidings.protocol.echo import Alias, Echo
from tidings.protocol.errors import Refusal


def update_answer(outcome: Outcome, alias: Alias = None) -> UpdateDone | Refusal:
    if isinstance(outcome, Done):
        return UpdateDone(outcome.commit, outcome.time, outcome.added, outcome.removed, alias)
    return Refusal.of(outcome, Echo(alias))


MOST_EVENTS = 1_000
"""In one request."""


async def publish_events(
    broker: Broker, documents: Sequence[Any], graph: Term, rights: Rights, alias: Alias = None
) -> EventsPublished:
    """Read events, and publish them all or none. Raises MatchingDocumentError, RequestTooComplex, GraphNotWritable."""
    if len(documents) > MOST_EVENTS:
        said = f"a request has at most {MOST_EVENTS:,} events"
        raise RequestTooComplex(said, measured=len(documents), limit=MOST_EVENTS)
    events = [event_of(each, broker.matching.bounds) for each in documents]
    done = await broker.matching.publish(events, graph, rights)
    return EventsPublished(done.events, done.matched, alias)


def delayed_answer(delayed: Delayed, alias: Alias = None) -> DelayedAccepted:
    return DelayedAccepted(delayed.id, delayed.at, alias)


# -- notifications ----------------------------------------------------------------------------------------------


def encode_body(parcel: Parcel) -> bytes:
    """The part of a notification that is the same for all subscribers who have this answer."""
    return wire.body(parcel.variables, parcel.changes, parcel.commit, parcel.time, parcel.reason)


def body_of(parcel: Parcel) -> bytes:
    """The same bytes, encoded once for each parcel."""
    body = parcel.encodings.get(encode_body)
    if body is None:
        body = parcel.encodings[encode_body] = encode_body(parcel)
    return body


def head_of(subscriber: Subscriber) -> bytes:
    """The part with which all notifications to a subscriber begin, encoded once for each subscriber."""
    head = subscriber.head
    if head is None:
        head = subscriber.head = wire.head(subscriber.spuid, subscriber.alias)
    return head


def first_answer(subscriber: Subscriber, parcel: Parcel, resumed: bool | None) -> bytes:
    """The notification that answers a subscribe request. `resumed` tells a client that asked to resume whether it did;
    None if the client did not ask."""
    return wire.first_answer(head_of(subscriber), subscriber.sequence, body_of(parcel), resumed)
