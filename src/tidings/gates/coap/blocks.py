"""Assembles long requests, and cuts long answers into blocks (RFC 7959).

aiocoap can do both, but not for observed resources, and without limits. A client asks for the blocks of an answer one
after the other, without naming the answer. So it gets the first block of the next answer only when it has all blocks of
the one before, or has asked for none of them for a while. The ETag tells the client to which answer a block belongs.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from hashlib import blake2s
from time import monotonic
from typing import Any, Generic, TypeVar

from aiocoap import Message
from aiocoap.blockwise import ContinueException, IncompleteException
from aiocoap.numbers import OptionNumber

from tidings.gates.errors import BodyTooLarge
from tidings.model.errors import BadRequest

LARGEST = 6
"""The exponent of the largest blocks, of 1,024 bytes."""
KEPT = 247.0
"""Seconds in which a client may ask for the next block (EXCHANGE_LIFETIME of RFC 7252, section 4.8.2)."""
PATIENCE = 3.0
"""Seconds in which a client must ask for the next block, while another answer waits."""
MOST_TRANSFERS = 1_000
"""With more answers on their way, abandoned ones are removed."""
ROOM = 4
"""The space for requests, and for answers, in multiples of the largest one."""

_HOW = (OptionNumber.BLOCK1, OptionNumber.BLOCK2, OptionNumber.OBSERVE)
_Value = TypeVar("_Value", bytes, bytearray, Message)


class Blocks:
    """The blocks of one resource. A request or an answer has at most `most` bytes."""

    def __init__(self, most: int, now: Callable[[], float] = monotonic) -> None:
        self._most = most
        self._requests: Kept[bytearray] = Kept(most * ROOM, now)
        self._answers: Kept[Message] = Kept(most * ROOM, now)
        self._now = now
        self._transfers: dict[Hashable, Transfer] = {}
        """Answers whose last block the client has not asked for yet."""

    def assemble(self, request: Message) -> Message:
        """The whole request. Raises BodyTooLarge, or tells aiocoap by an exception that blocks are missing."""
        block = request.opt.block1
        if block is None:
            return request
        if block.start + len(request.payload) > self._most:
            raise BodyTooLarge(self._most)
        key = _key(request)
        body = self._requests.take(key) if block.block_number else bytearray()
        if body is None or len(body) != block.start:
            raise IncompleteException
        body += request.payload
        if block.more:
            self._requests.put(body, len(body), key)
            raise ContinueException(block)
        return request.copy(payload=bytes(body))

    async def cut(self, request: Message, answer: Message) -> Message:
        """An answer, or its first block, when it is its turn."""
        asked = request.opt.block2
        exponent = LARGEST if asked is None else min(asked.size_exponent, LARGEST)
        if len(answer.payload) <= 16 << exponent:
            return answer
        answer.opt.etag = blake2s(answer.payload, digest_size=8).digest()
        key = _key(request)
        await self._turn(key)
        # Some clients repeat the payload with every block, others have none: these get the last answer.
        self._answers.put(answer, len(answer.payload), key, _key(request, bytes(request.payload)))
        self._begin(key)
        return _block(answer, 0, exponent)

    def _begin(self, key: Hashable) -> None:
        now = self._now()
        if len(self._transfers) >= MOST_TRANSFERS:
            self._transfers = {each: transfer for each, transfer in self._transfers.items() if transfer.until > now}
        self._transfers[key] = Transfer(now + PATIENCE)

    async def _turn(self, key: Hashable) -> None:
        """Wait until the client has all blocks of the answer before, or has stopped asking for them."""
        while (before := self._transfers.get(key)) is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, before.until - self._now())):
                    await before.over.wait()
            if before.until <= self._now() and self._transfers.get(key) is before:
                del self._transfers[key]
                before.over.set()

    def _asked(self, key: Hashable, block: Message) -> None:
        """The client has asked for a block."""
        transfer = self._transfers.get(key)
        if transfer is None:
            return
        transfer.until = self._now() + PATIENCE
        if not block.opt.block2.more:
            del self._transfers[key]
            transfer.over.set()

    def later(self, request: Message) -> Message | None:
        """A later block, if the request asks for one. Raises BadRequest, or tells aiocoap by an exception that it is
        gone."""
        asked = request.opt.block2
        if asked is None or not asked.block_number:
            return None
        answer = self._answers.get(_key(request, bytes(request.payload)) if request.payload else _key(request))
        if answer is None:
            raise IncompleteException
        block = _block(answer, asked.start, min(asked.size_exponent, LARGEST))
        self._asked(_key(request), block)
        return block


class Transfer:
    """An answer on its way; until the time `until`, the next answer waits."""

    def __init__(self, until: float) -> None:
        self.until = until
        self.over = asyncio.Event()


class Kept(Generic[_Value]):
    """Values by their keys; the oldest make room for others."""

    def __init__(self, most: int, now: Callable[[], float]) -> None:
        self._most = most
        self._now = now
        self._size = 0
        self._values: OrderedDict[Hashable, tuple[float, int, _Value]] = OrderedDict()

    def put(self, value: _Value, size: int, *keys: Hashable) -> None:
        """Under each of the keys."""
        now = self._now()
        for key in keys:
            self.take(key)
            self._values[key] = now, size, value
            self._size += size
        while self._values and (self._size > self._most or next(iter(self._values.values()))[0] < now - KEPT):
            self.take(next(iter(self._values)))

    def get(self, key: Hashable) -> _Value | None:
        found = self._values.get(key)
        return None if found is None else found[2]

    def take(self, key: Hashable) -> _Value | None:
        found = self._values.pop(key, None)
        if found is None:
            return None
        self._size -= found[1]
        return found[2]


def _key(request: Message, *more: Hashable) -> Hashable:
    """What the requests for the blocks of one thing have in common."""
    remote: Any = request.remote
    return (remote.blockwise_key, request.get_cache_key(_HOW), *more)


def _block(answer: Message, start: int, exponent: int) -> Message:
    size = 16 << exponent
    end = start + size
    if start >= len(answer.payload):
        raise BadRequest(f"there is no block at {start:,} of {len(answer.payload):,} bytes")
    return answer.copy(
        payload=answer.payload[start:end], mid=None, block2=(start // size, end < len(answer.payload), exponent)
    )
