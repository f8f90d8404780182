"""Delivers the notifications of one web hook as messages, one after the other, at least once.

    notification -> message, written to the log -> POST, again and again -> accepted, written to the log -> the next

While a message is on its way, the broker adds up changes: a hook has at most one message and one notification at a
time. If the receiver does not accept a message for too long, the gate parks the hook; changes are added up until it is
woken.
"""

import asyncio
import logging
import random
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Protocol, TypeAlias

import orjson
from msgspec import Struct, structs

from tidings.broker.subscriptions.subscriber import Origin, Parcel, Subscriber
from tidings.gates.answers import body_of, encode_body, first_answer, head_of
from tidings.gates.asking import Resident
from tidings.gates.caller import Caller
from tidings.gates.gate import Counts
from tidings.gates.ldn.activities import activity
from tidings.gates.premises import Premises
from tidings.gates.webhooks.hooks import Hook, Hooks, Letter, Parked, State
from tidings.gates.webhooks.signing import Signing
from tidings.model.errors import NotAllowed, NotFound, TidingsError
from tidings.protocol.instants import shown
from tidings.protocol.notifications import SPLICE

GONE = 410
"""What a receiver says that wants nothing more."""
MICROS = 1_000_000

log = logging.getLogger("tidings")


class Post(Protocol):
    """Sends a request and waits for the answer: for threads."""

    def __call__(self, url: str, headers: dict[str, str], body: bytes) -> int:
        """The status of the answer. Raises OutgoingNotAllowed, FetchFailed."""


class Patience(Struct, frozen=True):
    """In seconds: the first pause after a failure, the longest, and after how many a hook is parked."""

    first: float = 5.0
    longest: float = 3600.0
    parked: float = 259_200.0


class Attempts:
    """What is counted over all hooks."""

    __slots__ = ("failed", "made")

    def __init__(self) -> None:
        self.made = 0
        self.failed = 0


class Failure(Struct, frozen=True):
    """Why a message was not taken, and whether it is of no use to try again."""

    reason: str
    final: bool = False


Send: TypeAlias = Callable[[str, dict[str, str], bytes], Awaitable[int]]


class Delivery:
    """For one hook; a session of its own. `send` is `Post` in a thread."""

    def __init__(
        self,
        premises: Premises,
        counts: Counts,
        hooks: Hooks,
        hook: Hook,
        signing: Signing,
        send: Send,
        patience: Patience,
        attempts: Attempts,
    ) -> None:
        self._premises = premises
        self._broker = premises.broker
        self._counts = counts
        self._hooks = hooks
        self.hook = hook
        self._signing = signing
        self._send = send
        self._patience = patience
        self._attempts = attempts
        self._news = asyncio.Event()
        self._hurry = asyncio.Event()
        """Set to end a pause between two attempts early."""
        self._waiting: deque[tuple[int, bytes]] = deque()
        """Notifications that are no message yet: one, as a rule."""
        self._lost = True
        """Whether the subscription has to be resumed."""
        self._resumed = -1
        """The sequence at which it was resumed without missed changes."""
        self._caller: Caller | None = None
        self.failure: str | None = None
        """Why the last attempt failed, if it did."""

    @property
    def state(self) -> State:
        return self._hooks.find(self.hook.id)

    # -- its life -------------------------------------------------------------------------------------------------

    async def begin(self) -> Subscriber:
        """Subscribe for the first time. Raises the error if the broker refuses; nothing is left then."""
        caller = self._caller = self._new_caller()
        self._lost = False
        asked = self.hook.asked()
        dataset = asked.graphs.dataset(self._premises.base)
        try:
            return await caller.subscribe(asked.sparql, dataset, self._begun, self.hook.alias, encode_body)
        except BaseException:
            caller.leave()
            raise

    async def run(self) -> None:
        """Deliver until the task is cancelled."""
        try:
            while True:
                try:
                    await self._step()
                except TidingsError as error:
                    log.warning("the web hook %s waits: %s", self.hook.id, error)
                    await asyncio.sleep(self._patience.first)
        finally:
            self.leave()

    async def unsubscribe(self) -> None:
        """End the subscription, after `run` has ended."""
        caller = self._new_caller()
        with suppress(NotFound):  # which is what was wanted
            await caller.unsubscribe(self.hook.spuid)
        caller.leave()

    def leave(self) -> None:
        """Close the session, if there is one."""
        if self._caller is not None:
            self._caller.leave()

    def wake(self) -> None:
        """Go on at once, also if the hook pauses or has to resume."""
        if self._caller is None or not self._caller.session.subscribers:
            self._lost = True
        self._hurry.set()
        self._news.set()

    async def _step(self) -> None:
        if self._lost:
            await self._take_up()
        state = self.state
        if state.parked is not None or (state.letter is None and not self._waiting):
            self._news.clear()
            await self._news.wait()
            return
        letter = state.letter or await self._write(state, *self._waiting.popleft())
        await self._deliver(letter)

    def _new_caller(self) -> Caller:
        owner = self.hook.owner
        shown_ = None if owner is None else Resident(owner)
        origin = Origin("webhooks")
        return Caller(self._premises, self, self._counts, shown=shown_, where="webhook", origin=origin)

    async def _take_up(self) -> None:
        """Go on after the notification that was written last; or with a whole answer, under another spuid."""
        if self._caller is not None:
            self._caller.leave()
        self._caller = caller = self._new_caller()
        self._waiting.clear()
        self._lost, self._resumed = False, -1
        hook = self.hook
        try:
            who = await caller.resume(
                hook.spuid, self.state.sequence, self._begun, hook.alias, hook.asked(), encode_body
            )
        except NotAllowed as error:
            await self._park(str(error))
            return
        except TidingsError:
            self._lost = True
            raise
        if who.spuid != hook.spuid:
            self.hook = structs.replace(hook, spuid=who.spuid)
            await self._hooks.made(self.hook)
        elif self._resumed >= 0:  # with a number of its own, after which it goes on the next time
            await self._hooks.resumed(hook.id, self._resumed)

    # -- messages -------------------------------------------------------------------------------------------------

    async def _write(self, state: State, sequence: int, notification: bytes) -> Letter:
        now = self._broker.now()
        number = state.number + 1
        document = self._document(orjson.loads(notification)["notification"], number, shown(now))
        letter = Letter(number, sequence, self.hook.spuid, orjson.dumps(document).decode(), now)
        await self._hooks.written(self.hook.id, letter)
        return letter

    def _document(self, notification: dict[str, Any], number: int, now: str) -> dict[str, Any]:
        """A message, as its receiver understands it."""
        hook = self.hook
        if hook.target is not None:
            return activity(notification, f"urn:tidings:message:{hook.id}.{number}", self._premises.base, now)
        content = {"type": "notification", "timestamp": now, "hook": hook.id, "number": number}
        return content | {"notification": notification}

    async def _deliver(self, letter: Letter) -> None:
        """Try to deliver a message until the receiver accepts it, or the hook is parked."""
        pause = self._patience.first
        while (failure := await self._attempt(letter)) is not None:
            self.failure = failure.reason
            self._attempts.failed += 1
            if failure.final or self._broker.now() - letter.since >= self._patience.parked * MICROS:
                await self._park(failure.reason)
                return
            await self._pause(pause * random.uniform(0.9, 1.1))  # not all at once, after a receiver was away
            pause = min(2 * pause, self._patience.longest)
        self.failure = None
        self._counts.notifications += 1
        await self._hooks.taken(self.hook.id, letter.number)
        if not self._waiting and self._caller is not None:
            self._caller.drained()

    async def _pause(self, seconds: float) -> None:
        self._hurry.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hurry.wait()

    async def _attempt(self, letter: Letter) -> "Failure | None":
        """Why it was not taken, if it was not."""
        self._attempts.made += 1
        hook, body = self.hook, letter.body.encode()
        headers = self._signing.headers(hook.id, f"{hook.id}.{letter.number}", self._broker.now() // MICROS, body)
        try:
            kind = "application/json" if hook.target is None else "application/ld+json"
            status = await self._send(hook.url, {"content-type": kind, **headers}, body)
        except TidingsError as error:
            return Failure(str(error))
        if 200 <= status < 300:
            return None
        return Failure(f"the receiver answers with the status {status}", final=status == GONE)

    async def _park(self, reason: str) -> None:
        log.warning("the web hook %s is parked: %s", self.hook.id, reason)
        await self._hooks.park(self.hook.id, Parked(self._broker.now(), reason))

    # -- for the broker ---------------------------------------------------------------------------------------------

    def _begun(self, subscriber: Subscriber, parcel: Parcel, resumed: bool | None) -> None:
        if parcel.changes or not resumed:
            self._put(subscriber.sequence, first_answer(subscriber, parcel, resumed))
        else:  # nothing was missed
            self._resumed = subscriber.sequence

    def deliver(self, subscriber: Subscriber, sequence: int, parcel: Parcel) -> None:
        self._put(sequence, SPLICE % (head_of(subscriber), sequence, body_of(parcel)))

    def _put(self, sequence: int, notification: bytes) -> None:
        self._waiting.append((sequence, notification))
        if self._caller is not None:
            self._caller.filled()
        self._news.set()

    def dismiss(self, subscriber: Subscriber, reason: str, code: int) -> None:
        self._lost = True
        self._broker.spawn(self._park(reason))
        self._news.set()

    def close(self, code: int, reason: str) -> None:
        """What waited was too much, or is not known any more: the next message has the whole answer."""
        self._lost = True
        self._news.set()
