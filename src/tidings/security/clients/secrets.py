"""Secrets and their argon2id hashes. By design, a hash takes tens of milliseconds of processor time. So threads compute
hashes, a few at a time, and only as many may wait as can be computed soon.
"""

import asyncio
import secrets
from concurrent.futures import ThreadPoolExecutor

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from msgspec import Struct

from tidings.security.errors import TooManyAttempts

_BYTES = 32
LONGEST_SECRET = 256


class Cost(Struct, frozen=True, forbid_unknown_fields=True):
    """What a hash costs. Our secrets are long and random, so the defaults are modest: 19 MiB and two passes."""

    passes: int = 2
    kibibytes: int = 19_456
    lanes: int = 1


_COST = Cost()


class Secrets:
    """Makes and compares secrets. `at_once` are worked out at a time; `waiting` more may wait."""

    def __init__(self, cost: Cost = _COST, *, at_once: int = 2, waiting: int = 64) -> None:
        self._hasher = PasswordHasher(cost.passes, cost.kibibytes, cost.lanes)
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="secrets")
        self._most = at_once + waiting
        self.inside = 0
        """Hashes that are worked out, or wait for that."""
        self._nobody: str | None = None

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)

    @staticmethod
    def generate() -> str:
        """A new secret, of characters that are the same in every encoding."""
        return secrets.token_urlsafe(_BYTES)

    async def hash(self, secret: str) -> str:
        """Raises TooManyAttempts."""
        self._enter()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._hasher.hash, secret)
        finally:
            self.inside -= 1

    async def fits(self, known: str | None, secret: str) -> bool:
        """Whether a secret is that of a hash. If there is none, it takes as long to say no. Raises TooManyAttempts."""
        self._enter()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._compare, known, secret)
        finally:
            self.inside -= 1

    def _enter(self) -> None:
        if self.inside >= self._most:
            raise TooManyAttempts("attempts at the same time", 1.0)
        self.inside += 1

    def _compare(self, known: str | None, secret: str) -> bool:
        """In a thread."""
        if self._nobody is None:
            self._nobody = self._hasher.hash(self.generate())
        try:
            fits = self._hasher.verify(known or self._nobody, secret[:LONGEST_SECRET])
        except (VerificationError, InvalidHashError):
            return False
        return fits and known is not None
