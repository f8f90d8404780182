"""The two chat experiments of the SEPA paper (section 5.5, Listing 16).

First, each primitive is repeated: SEND, then SENT, SET_RECEIVED, RECEIVED, REMOVE. Then a client sends messages to
itself, each of which goes through all steps: sent, notified, received, notified, removed.
"""

from collections.abc import AsyncIterator, Awaitable
from typing import TypeVar

from tidings.bench.configuration import ChatTest
from tidings.bench.experiments.listeners import listen
from tidings.bench.experiments.setting import Surroundings, ms, now
from tidings.bench.results.measured import Measurement
from tidings.bench.targets import Arrival, Target

T = TypeVar("T")
_PREFIX = "PREFIX schema: <http://schema.org/> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>\n"
_ME = "<http://schema.org/PersonURI1>"
_SENT = _PREFIX + (
    "SELECT ?message ?text WHERE { ?message rdf:type schema:Message ; schema:text ?text ; schema:sender ?sender ; "
    f"schema:toRecipient {_ME} ; schema:dateSent ?time . ?sender rdf:type schema:Person ; schema:name ?name . "
    f"{_ME} rdf:type schema:Person }}"
)
_RECEIVED = _PREFIX + (
    f"SELECT ?message ?time WHERE {{ ?message schema:sender {_ME} ; schema:dateReceived ?time ; "
    "rdf:type schema:Message }"
)


def _send(text: str) -> str:
    return _PREFIX + (
        f'INSERT {{ ?message rdf:type schema:Message ; schema:text "{text}" ; schema:sender {_ME} ; '
        f"schema:toRecipient {_ME} ; schema:dateSent ?time }} WHERE {{ {_ME} rdf:type schema:Person "
        'BIND(STR(NOW()) AS ?time) BIND(IRI(CONCAT("http://schema.org/Message-", STRUUID())) AS ?message) }'
    )


def _set_received(message: str) -> str:
    return _PREFIX + (
        f"INSERT {{ {message} schema:dateReceived ?time }} WHERE {{ {message} rdf:type schema:Message "
        "BIND(STR(NOW()) AS ?time) }"
    )


def _remove(message: str) -> str:
    return _PREFIX + f"DELETE {{ {message} ?p ?o }} WHERE {{ {message} rdf:type schema:Message . {message} ?p ?o }}"


async def measure(test: ChatTest, target: Target, around: Surroundings) -> AsyncIterator[Measurement]:
    await target.update(f'{_PREFIX}INSERT DATA {{ {_ME} rdf:type schema:Person ; schema:name "Me" }}')
    async for measurement in _in_turn(test, target, around):
        yield measurement
    if test.to_oneself and target.offers.subscriptions:
        yield await _to_oneself(test, target, around)


async def _in_turn(test: ChatTest, target: Target, around: Surroundings) -> AsyncIterator[Measurement]:
    count = test.messages
    wrong: list[str] = []
    sends = [await _timed(target.update(_send(f"message {number}"))) for number in range(count)]
    around.progress(1, 5, "SEND")
    yield _measured(around, "SEND", [elapsed for elapsed, _ in sends])
    asked = [await _timed(target.query(_SENT)) for _ in range(count)]
    messages = [row[0] for row in asked[-1][1]]
    if len(messages) != count:
        wrong.append(f"SENT has {len(messages)} messages instead of {count}")
    around.progress(2, 5, "SENT")
    yield _measured(around, "SENT", [elapsed for elapsed, _ in asked], wrong)
    told = [await _timed(target.update(_set_received(str(message)))) for message in messages]
    around.progress(3, 5, "SET_RECEIVED")
    yield _measured(around, "SET_RECEIVED", [elapsed for elapsed, _ in told])
    seen = [await _timed(target.query(_RECEIVED)) for _ in range(count)]
    wrong = [] if len(seen[-1][1]) == count else [f"RECEIVED has {len(seen[-1][1])} messages instead of {count}"]
    around.progress(4, 5, "RECEIVED")
    yield _measured(around, "RECEIVED", [elapsed for elapsed, _ in seen], wrong)
    gone = [await _timed(target.update(_remove(str(message)))) for message in messages]
    left = await target.query(_SENT)
    around.progress(5, 5, "REMOVE")
    yield _measured(around, "REMOVE", [elapsed for elapsed, _ in gone], [f"{len(left)} messages left"] if left else [])


async def _to_oneself(test: ChatTest, target: Target, around: Surroundings) -> Measurement:
    """The client sends each message once the one before is removed; a sample is the time from sending to removal."""
    sent = await listen(target, _SENT, _message_to_me, test.timeout)
    received = await listen(target, _RECEIVED, _message, test.timeout)
    samples: list[float] = []
    latencies: list[float] = []
    lost = 0
    try:
        for number in range(test.to_oneself):
            known = {mark for mark, _ in sent.marks}
            begun = now()
            await target.update(_send(f"to me {number}"))
            arrived = await sent.anything_but(known, test.timeout)
            if arrived is None:
                lost += 1
                continue
            message, at = arrived
            latencies.append(ms(begun, at))
            await target.update(_set_received(message))
            lost += await received.heard(message, test.timeout) is None
            await target.update(_remove(message))
            samples.append(ms(begun))
            around.progress(number + 1, test.to_oneself, "to oneself")
        left = await target.query(_SENT)
    finally:
        await sent.end()
        await received.end()
    wrong = [f"{lost} notifications lost"] if lost and not target.offers.polls else []
    wrong += [f"{len(left)} messages left"] if left else []
    values = {
        "expected": 2 * test.to_oneself, "lost": lost, "loss_ratio": lost / (2 * test.to_oneself),
        "notification_mean_ms": sum(latencies) / len(latencies) if latencies else 0.0,
        "notification_max_ms": max(latencies, default=0.0),
    }  # fmt: skip
    return Measurement(
        target=around.target, test=f"{around.test}-to-oneself", kind="chat", n=test.to_oneself, samples=tuple(samples),
        values=values, wrong=tuple(wrong),
    )  # fmt: skip


def _message_to_me(arrival: Arrival) -> str | None:
    """The message to this client that a notification adds; None for messages of earlier tests."""
    cells = [row[0] for row in arrival.added if len(row) > 1 and row[1] and row[1].startswith('"to me ')]
    return cells[-1] if cells else None


def _message(arrival: Arrival) -> str | None:
    cells = [row[0] for row in arrival.added if row and row[0] is not None]
    return cells[-1] if cells else None


async def _timed(work: Awaitable[T]) -> tuple[float, T]:
    begun = now()
    outcome = await work
    return ms(begun), outcome


def _measured(around: Surroundings, name: str, samples: list[float], wrong: list[str] | None = None) -> Measurement:
    return Measurement(
        target=around.target, test=f"{around.test}-{name}", kind="chat", n=None, samples=tuple(samples),
        wrong=tuple(wrong or ()),
    )  # fmt: skip
