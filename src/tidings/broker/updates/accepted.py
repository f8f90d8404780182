"""Updates that the broker has accepted, as values: what to carry out, and the function that answers the publisher.

TextUpdate     the text of a SPARQL update         BoundUpdate    a prepared update with its variables bound
GraphUpdate    a change of one graph               DelayedUpdate  a delayed update that is due
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeAlias, assert_never

from msgspec import Struct

from tidings.broker.errors import ShuttingDown
from tidings.broker.updates.graph_change import GraphChange
from tidings.broker.updates.schedule import Delayed
from tidings.engine.engine import Engine
from tidings.engine.updates.operations import PreparedUpdate
from tidings.log.errors import LogBroken, LogWriteFailed
from tidings.model.access import ALL_RIGHTS, Rights
from tidings.model.errors import EndpointAway, EndpointDiffers, EvaluationError, TidingsError
from tidings.sparql.algebra import Dataset
from tidings.sparql.prepared import Parameters


class Done(Struct, frozen=True):
    """An update that was carried out: its commit, the time, and how many quads it added and removed."""

    commit: int
    time: int
    added: int
    removed: int


NOT_DONE = (LogWriteFailed, LogBroken, ShuttingDown, EndpointAway, EndpointDiffers)
"""Errors that are not the update's fault: a delayed update stays on the schedule."""

OF_WHAT_IS_THERE = (EvaluationError,)
"""Errors that say something about the graph: nobody is told before that is durable."""

Outcome: TypeAlias = Done | TidingsError
Reply: TypeAlias = Callable[[Outcome], None]


class TextUpdate(Struct):
    text: str
    dataset: Dataset | None
    reply: Reply
    publisher: str | None = None
    """The publisher, if known."""
    since: float = 0.0
    """When the broker accepted it, in seconds of its monotonic clock."""
    rights: Rights = ALL_RIGHTS
    """The rights of the publisher."""


class BoundUpdate(Struct):
    request: PreparedUpdate
    parameters: Parameters
    reply: Reply
    publisher: str | None = None
    since: float = 0.0
    rights: Rights = ALL_RIGHTS


class GraphUpdate(Struct):
    change: GraphChange
    reply: Reply
    publisher: str | None = None
    since: float = 0.0
    rights: Rights = ALL_RIGHTS


class DelayedUpdate(Struct):
    delayed: Delayed
    reply: Reply
    since: float = 0.0
    rights: Rights = ALL_RIGHTS

    @property
    def publisher(self) -> str | None:
        return self.delayed.publisher


Update: TypeAlias = TextUpdate | BoundUpdate | GraphUpdate | DelayedUpdate


Prepared: TypeAlias = tuple[PreparedUpdate, Parameters]


def prepare(update: Update, engine: Engine) -> Prepared:
    """Parse and check an update."""
    match update:
        case TextUpdate(text, dataset):
            return engine.prepare(text, dataset)
        case BoundUpdate(request, parameters):
            return request, parameters
        case DelayedUpdate(delayed):
            return engine.prepare(delayed.text, delayed.dataset)
        case GraphUpdate(change):
            return change.request(), ()
        case _:
            assert_never(update)


def reply_to(answer: "asyncio.Future[Done]") -> Reply:
    """A reply that completes a future, unless its waiter was cancelled."""
    return partial(_resolve, answer)


def _resolve(answer: "asyncio.Future[Done]", outcome: Outcome) -> None:
    if answer.done():
        return
    if isinstance(outcome, Done):
        answer.set_result(outcome)
    else:
        answer.set_exception(outcome)
