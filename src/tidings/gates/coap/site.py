"""The resources of the gate, for aiocoap.

Notifications are sent without confirmation, but one now and then, and the last: who does not confirm it, or resets it,
observes no longer (RFC 7641, section 4.5). aiocoap cuts long answers into blocks, and puts long requests together.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from aiocoap import Code, ContentFormat, Message, Unreliable, resource
from aiocoap.protocol import ServerObservation

from tidings.gates.coap.content import Answer, Asked, refusal
from tidings.gates.coap.requests import Observation, Requests
from tidings.gates.gate import Counts
from tidings.model.errors import TidingsError

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


class QueryResource(resource.Resource):  # type: ignore[misc]
    """GET with the query in the URI, FETCH with it as the payload."""

    rt = "tidings.query"
    ct = "50 60"

    def __init__(self, requests: Requests) -> None:
        super().__init__()
        self._requests = requests

    async def render_get(self, request: Message) -> Message:
        return message_of(await self._requests.query(asked_of(request)))

    render_fetch = render_get


class UpdateResource(resource.Resource):  # type: ignore[misc]
    """POST."""

    rt = "tidings.update"
    ct = "50 60"

    def __init__(self, requests: Requests) -> None:
        super().__init__()
        self._requests = requests

    async def render_post(self, request: Message) -> Message:
        return message_of(await self._requests.update(asked_of(request)))


class SubscribeResource(resource.ObservableResource):  # type: ignore[misc]
    """GET and FETCH, with Observe."""

    rt = "tidings.subscribe"
    ct = "50 60"

    def __init__(self, requests: Requests, counts: Counts) -> None:
        super().__init__()
        self._requests = requests
        self._counts = counts

    async def add_observation(self, request: Message, serverobservation: ServerObservation) -> None:
        """Who cannot observe gets an answer that says why, or that it is just an answer (`render_get`)."""
        watch = Watch(serverobservation, self._counts)
        try:
            observation = await self._requests.observe(asked_of(request), watch.changed)
        except TidingsError:
            return  # what was wrong is said by the answer
        watch.begin(observation)
        serverobservation.accept(watch.cancel)

    async def render_get(self, request: Message) -> Message:
        return message_of(await self._requests.look(asked_of(request)))

    render_fetch = render_get


class Watch:
    """One observation, at aiocoap."""

    def __init__(self, observation: ServerObservation, counts: Counts) -> None:
        self._loop = asyncio.get_running_loop()
        self._at_aiocoap = observation
        self._counts = counts
        self._observation: Observation | None = None
        self._confirmed = self._loop.time()
        self._check: asyncio.TimerHandle | None = None
        self._soon = False

    def begin(self, observation: Observation) -> None:
        self._observation = observation
        self._check = self._loop.call_later(CHECKED, self._confirm)

    def changed(self, error: TidingsError | None) -> None:
        """Told once for all changes of one turn of the loop."""
        if error is not None:
            self._at_aiocoap.trigger(message_of(refusal(error)), is_last=True)
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
        self._at_aiocoap.trigger(message_of(self._observation.answer(), **options))
        if self._check is not None:
            self._check.cancel()
        self._check = self._loop.call_later(seconds, self._confirm)

    def cancel(self) -> None:
        """For aiocoap: nobody observes any longer."""
        observation, self._observation = self._observation, None
        if self._check is not None:
            self._check.cancel()
        if observation is not None:
            observation.cancel()


def site_of(requests: Requests, counts: Counts) -> resource.Site:
    site = resource.Site()
    well_known: Callable[[], Any] = site.get_resources_as_linkheader
    site.add_resource([".well-known", "core"], resource.WKCResource(well_known, impl_info=None))
    site.add_resource(["query"], QueryResource(requests))
    site.add_resource(["update"], UpdateResource(requests))
    site.add_resource(["subscribe"], SubscribeResource(requests, counts))
    return site
