"""The resources of the gate, for aiocoap.

Notifications are sent without confirmation, except some of them and the last one. A client that does not confirm one,
or resets it, is no longer an observer (RFC 7641, section 4.5). The notification of a long answer is its first block;
the client asks for the others (RFC 7959, section 3.4).
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from aiocoap import Code, ContentFormat, Message, Unreliable, error, resource
from aiocoap.pipe import Pipe

from tidings.gates.coap.blocks import Blocks
from tidings.gates.coap.content import Answer, Asked, refusal
from tidings.gates.coap.requests import Observation, Requests
from tidings.gates.errors import MethodNotAllowed
from tidings.gates.gate import Counts
from tidings.model.errors import NotFound, TidingsError

Answering: TypeAlias = Callable[[Asked], Awaitable[Answer]]

CONFIRMED = 20.0
"""Seconds after which a notification has to be confirmed again, while one follows the other."""
SETTLED = 2.0
"""Seconds without a change after which the last one is said once more, and has to be confirmed: it may be lost."""
CHECKED = 3_600.0
"""Seconds after which it is looked whether an observer is still there, if nothing changes."""


def asked_of(request: Message) -> Asked:
    options: Any = request.opt
    remote: Any = request.remote
    return Asked(
        bytes(request.payload),
        None if options.content_format is None else int(options.content_format),
        None if options.accept is None else int(options.accept),
        tuple(options.uri_query),
        "" if remote is None else str(remote.hostinfo).rpartition(":")[0].strip("[]"),
    )


def message_of(answer: Answer, **options: Any) -> Message:
    major, minor = answer.code
    message = Message(code=Code((major << 5) + minor), payload=answer.payload, **options)
    if answer.format is not None:
        message.opt.content_format = ContentFormat(answer.format)
    return message


class Door(resource.Resource):  # type: ignore[misc]
    """A resource that answers requests with some methods."""

    ct = "50 60"

    def __init__(self, requests: Requests, blocks: Blocks, rt: str, methods: Sequence[Code], answer: Answering) -> None:
        super().__init__()
        self.rt = rt
        self._requests = requests
        self._blocks = blocks
        self._methods = methods
        self._answer = answer

    async def render_to_pipe(self, pipe: Pipe) -> None:
        try:
            if pipe.request.code not in self._methods:
                raise MethodNotAllowed(f"the methods here are {' and '.join(str(each) for each in self._methods)}")
            request = self._blocks.assemble(pipe.request)
            answer = self._blocks.later(request)
            if answer is None:
                await self._serve(pipe, request)
            else:
                pipe.add_response(answer, is_last=True)
        except TidingsError as error:
            pipe.add_response(message_of(self._requests.refuse(error)), is_last=True)

    async def _serve(self, pipe: Pipe, request: Message) -> None:
        answer = await self._blocks.cut(request, message_of(await self._answer(asked_of(request))))
        answer.opt.block1 = request.opt.block1
        pipe.add_response(answer, is_last=True)


class ObservableDoor(Door):
    """A resource that can be observed. aiocoap cancels the task of an observer that has left."""

    def __init__(self, requests: Requests, blocks: Blocks, rt: str, methods: Sequence[Code], counts: Counts) -> None:
        super().__init__(requests, blocks, rt, methods, requests.look)
        self._counts = counts
        self._number = 0

    def get_link_description(self) -> dict[str, str | None]:
        return {**super().get_link_description(), "obs": None}

    async def _serve(self, pipe: Pipe, request: Message) -> None:
        """Serve an observer. If it cannot observe, it gets a plain answer or an error (RFC 7641, section 4.1)."""
        watch = Watch(self._counts)
        try:
            if pipe.request.opt.observe != 0:
                return await super()._serve(pipe, request)
            watch.begin(await self._requests.observe(asked_of(request), watch.changed))
        except TidingsError:
            return await super()._serve(pipe, request)
        try:
            await self._tell(pipe, request, watch)
        finally:
            watch.cancel()

    async def _tell(self, pipe: Pipe, request: Message, watch: "Watch") -> None:
        """Send notifications until there is an error, which is the last one."""
        block1, told = request.opt.block1, watch.first()
        while told.code.is_successful():
            message = await self._blocks.cut(request, told)
            message.opt.block1, block1 = block1, None
            self._number = (self._number + 1) % (1 << 24)  # for all observers, so it also grows for one that returns
            message.opt.observe = self._number
            pipe.add_response(message, is_last=False)
            told = await watch.next()
        pipe.add_response(told, is_last=True)


class Watch:
    """One observation: what is to be told next. What was not told yet makes way for what is true now."""

    def __init__(self, counts: Counts) -> None:
        self._loop = asyncio.get_running_loop()
        self._next: Message | None = None
        self._ready = asyncio.Event()
        self._counts = counts
        self._observation: Observation | None = None
        self._confirmed = self._loop.time()
        self._check: asyncio.TimerHandle | None = None
        self._soon = False

    def begin(self, observation: Observation) -> None:
        self._observation = observation
        self._check = self._loop.call_later(CHECKED, self._confirm)

    def first(self) -> Message:
        assert self._observation is not None  # it has begun
        return message_of(self._observation.answer())

    async def next(self) -> Message:
        while self._next is None:
            await self._ready.wait()
            self._ready.clear()
        message, self._next = self._next, None
        return message

    def changed(self, error: TidingsError | None) -> None:
        """Told once for all changes of one turn of the loop."""
        if error is not None:
            self._put(message_of(refusal(error)))
        elif not self._soon:
            self._soon = True
            self._loop.call_soon(self._send)

    def _send(self) -> None:
        self._soon = False
        if self._loop.time() - self._confirmed >= CONFIRMED:
            self._confirm()
        else:
            self._tell(SETTLED, transport_tuning=Unreliable())

    def _confirm(self) -> None:
        self._confirmed = self._loop.time()
        self._tell(CHECKED)

    def _tell(self, seconds: float, **options: Any) -> None:
        """What is true now; in so many seconds, it is said again."""
        if self._observation is None:
            return
        self._counts.notifications += 1
        self._put(message_of(self._observation.answer(), **options))
        if self._check is not None:
            self._check.cancel()
        self._check = self._loop.call_later(seconds, self._confirm)

    def _put(self, message: Message) -> None:
        self._next = message
        self._ready.set()

    def cancel(self) -> None:
        """Nobody observes any longer."""
        observation, self._observation = self._observation, None
        if self._check is not None:
            self._check.cancel()
        if observation is not None:
            observation.cancel()


class Site(resource.Site):  # type: ignore[misc]
    """Says of what is not there that it is not there, like of any other error."""

    def __init__(self, requests: Requests) -> None:
        super().__init__()
        self._requests = requests

    async def render_to_pipe(self, request: Pipe) -> None:
        try:
            await super().render_to_pipe(request)
        except error.NotFound:
            path = "/".join(request.request.opt.uri_path)
            missing = NotFound(f"there is no /{path[:100]}; /.well-known/core says what there is")
            request.add_response(message_of(self._requests.refuse(missing)), is_last=True)


def site_of(requests: Requests, counts: Counts, most: int) -> resource.Site:
    """`most` is how many bytes a request or an answer may have."""
    site, reading = Site(requests), (Code.GET, Code.FETCH)
    well_known: Callable[[], Any] = site.get_resources_as_linkheader
    site.add_resource([".well-known", "core"], resource.WKCResource(well_known, impl_info=None))
    site.add_resource(["query"], Door(requests, Blocks(most), "tidings.query", reading, requests.query))
    site.add_resource(["update"], Door(requests, Blocks(most), "tidings.update", (Code.POST,), requests.update))
    site.add_resource(["subscribe"], ObservableDoor(requests, Blocks(most), "tidings.subscribe", reading, counts))
    return site
