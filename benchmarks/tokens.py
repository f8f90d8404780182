"""The time to identify a client and its rights, by a token that was verified before, and by one that was not.

Prints one JSON line: `recalled_us` (microseconds from the header to the rights, for a cached token), `verified_us` (the
same for a token that is verified, with RS256), and `ratio`, the second divided by the first. Each header is decoded
anew, as from a socket. All answers are checked.
"""

import asyncio
import time
from collections.abc import Coroutine

from measure import check, duel, report, rounded, say
from tidings.model.access import Rights
from tidings.protocol.entries import Note
from tidings.security.authority import Authority
from tidings.security.keys.key_vault import MemoryVault
from tidings.security.passport import Passport
from tidings.security.settings import read_settings

CLIENTS = 1_000
ROUNDS = 5
_VERIFIED = 200
"""How many tokens are verified in a round; fewer than are recalled, because this takes longer."""
_SETTINGS = """
issuer = "https://broker.example.org"
hashes = {passes = 1, kibibytes = 8, lanes = 1}
logins = {by_address = {burst = 1e6, per_second = 1}, by_client = {burst = 1e6, per_second = 1}}
identity = [{identity = "lamp-*", roles = ["lamps"]}]
[[grant]]
to = "role:lamps"
query = ["http://example.org/city/*"]
update = ["http://example.org/city/lamps"]
"""


class Memory:
    """A ledger that passes notes on to their keepers, and stores nothing."""

    authority: Authority

    async def write(self, *notes: Note) -> None:
        for note in notes:
            for kinds, keeper in self.authority.keepers():
                if note.kind in kinds:
                    keeper.restore(note)


async def nowhere(url: str) -> object:
    raise SystemExit(f"nobody should ask for {url}")


def main() -> None:
    with asyncio.Runner() as runner:
        authority, headers = runner.run(_prepare())
        say(f"{CLIENTS:,} clients, tokens of {len(headers[0])} characters")
        expected = [authority.rights_of(runner.run(authority.identify(header.decode()))) for header in headers]
        check(all(rights.write.has("<http://example.org/city/lamps>") for rights in expected), "lamps may be updated")
        check(not any(rights.write.has("<http://example.org/city>") for rights in expected), "nothing else may")

        def recalled(header: bytes) -> Rights:
            passport = authority.recall(header.decode("latin-1"))
            check(passport is not None, "it is remembered")
            assert passport is not None
            return authority.rights_of(passport)

        def verified(header: bytes) -> Rights:
            passport = _now(authority.verification.verify(header.decode("latin-1")[7:]))
            return authority.rights_of(passport)

        for header, rights in zip(headers, expected, strict=True):
            check(recalled(header) is rights, "the rights are those of the first time")
        check(verified(headers[0]) is expected[0], "verified anew, they are the same")
        fast, _ = duel(recalled, recalled, [headers] * ROUNDS)
        slow, _ = duel(verified, verified, [headers[:_VERIFIED]] * ROUNDS)
        runner.run(_check_refusal(authority, headers[0]))
        authority.close()
    report(recalled_us=rounded(fast * 1e6, 2), verified_us=rounded(slow * 1e6, 1), ratio=rounded(slow / fast, 1))


async def _prepare() -> tuple[Authority, list[bytes]]:
    ledger = Memory()
    ledger.authority = authority = Authority(
        read_settings(_SETTINGS),
        ledger,
        MemoryVault(),
        nowhere,
        clock=lambda: time.time_ns() // 1000,
        monotonic=time.monotonic,
    )
    await authority.begin()
    headers = []
    for number in range(CLIENTS):
        registered = await authority.credentials.register(f"lamp-{number}")
        issued = authority.issuer.issue(registered.client, frozenset())
        headers.append(f"Bearer {issued.text}".encode())
    return authority, headers


def _now(work: Coroutine[None, None, Passport]) -> Passport:
    """The result of a coroutine that does not wait. An event loop would distort the measurement."""
    try:
        work.send(None)
    except StopIteration as done:
        passport: Passport = done.value
        return passport
    raise SystemExit("a key had to be asked for")


async def _check_refusal(authority: Authority, header: bytes) -> None:
    """Check that a revoked token is not recalled."""
    await authority.credentials.revoke("lamp-0")
    check(authority.recall(header.decode()) is None, "a token that was revoked is forgotten")


if __name__ == "__main__":
    main()
