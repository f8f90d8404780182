"""All web hooks at work: makes, wakes and ends them, and resumes them after a restart."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias
from uuid import uuid4

from msgspec import structs

from tidings.gates.gate import Counts
from tidings.gates.premises import Premises
from tidings.gates.webhooks.delivery import Attempts, Delivery, Patience, Post
from tidings.gates.webhooks.errors import TooManyWebhooks
from tidings.gates.webhooks.hooks import Hook, Hooks
from tidings.gates.webhooks.signing import Signing
from tidings.protocol.echo import Alias
from tidings.protocol.messages import Graphs

THREADS = 16
"""Requests at a time; the others wait for their turn."""

Discover: TypeAlias = Callable[[str], str]
"""The address of the inbox of a resource: for threads. Raises NoInbox, OutgoingNotAllowed, FetchFailed."""
Check: TypeAlias = Callable[[str], object]
"""Whether requests may go to an address: for threads. Raises OutgoingNotAllowed, FetchFailed."""

log = logging.getLogger("tidings")


class Deliveries:
    """`check` and `post` are what reaches other hosts; both wait, and are called in threads."""

    def __init__(
        self,
        premises: Premises,
        signing: Signing,
        check: Check,
        discover: Discover,
        post: Post,
        patience: Patience,
        most: int,
    ) -> None:
        self._premises = premises
        self._signing = signing
        self._check = check
        self._discover = discover
        self._post = post
        self._patience = patience
        self._most = most
        self.counts = Counts()
        self.attempts = Attempts()
        self.hooks = Hooks(premises.broker.facts)
        premises.broker.facts.keep(Hooks.KINDS, self.hooks)
        self._at_work: dict[str, tuple[Delivery, asyncio.Task[None]]] = {}
        self._threads = ThreadPoolExecutor(THREADS, "webhook")

    # -- its life ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        for state in self.hooks:
            self._run(self._delivery(state.hook))

    async def stop(self) -> None:
        tasks = [task for _, task in self._at_work.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._at_work.clear()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def secret(self, name: str) -> str:
        return self._signing.secret(name)

    def failure(self, name: str) -> str | None:
        """What the last attempt of a hook failed with."""
        at_work = self._at_work.get(name)
        return None if at_work is None else at_work[0].failure

    # -- hooks --------------------------------------------------------------------------------------------------------

    async def notify(self, target: str, sparql: str, graphs: Graphs, alias: Alias, owner: str | None) -> Hook:
        """As `make`, for the inbox of a resource, which is found first."""
        inbox = await asyncio.get_running_loop().run_in_executor(self._threads, self._discover, target)
        return await self.make(inbox, sparql, graphs, alias, owner, target)

    async def make(
        self, url: str, sparql: str, graphs: Graphs, alias: Alias, owner: str | None, target: str | None = None
    ) -> Hook:
        """A hook that is durable. Raises what speaks against it; nothing is left then."""
        if len(self.hooks) >= self._most:
            raise TooManyWebhooks(f"there are {self._most:,} web hooks, the limit of webhook_most")
        await asyncio.get_running_loop().run_in_executor(self._threads, self._check, url)
        hook = Hook(
            uuid4().hex,
            url,
            "",
            sparql,
            graphs.default,
            graphs.named,
            alias,
            owner,
            self._premises.broker.now(),
            target,
        )
        delivery = self._delivery(hook)
        subscriber = await delivery.begin()
        delivery.hook = hook = structs.replace(hook, spuid=subscriber.spuid)
        try:
            await self.hooks.made(hook)
        except BaseException:
            delivery.leave()
            raise
        self._run(delivery)
        return hook

    async def wake(self, name: str) -> None:
        """Try again at once. Raises UnknownWebhook."""
        if self.hooks.find(name).parked is not None:
            await self.hooks.wake(name)
        self._at_work[name][0].wake()

    async def end(self, name: str) -> None:
        """For good. Raises UnknownWebhook."""
        self.hooks.find(name)
        delivery, task = self._at_work.pop(name)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await self.hooks.end(name)
        await delivery.unsubscribe()

    def _delivery(self, hook: Hook) -> Delivery:
        return Delivery(
            self._premises, self.counts, self.hooks, hook, self._signing, self._send, self._patience, self.attempts
        )

    def _run(self, delivery: Delivery) -> None:
        task = asyncio.get_running_loop().create_task(delivery.run())
        self._at_work[delivery.hook.id] = delivery, task
        task.add_done_callback(_over)

    def _send(self, url: str, headers: dict[str, str], body: bytes) -> Awaitable[int]:
        return asyncio.get_running_loop().run_in_executor(self._threads, self._post, url, headers, body)


def _over(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("internal error in a web hook", exc_info=error)
