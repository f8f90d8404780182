"""Builds the security of a broker by its settings: its authority, its guard, its audit log; and keeps them up to date.

build       before the broker runs, so that the parts that keep facts of security get them from the log
running     while it runs: keys, the policy of the file, the first administrator; then periodic work
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from starlette.routing import BaseRoute

from tidings.broker.broker import Broker
from tidings.gates.http.security.administration import AdministrationEndpoints
from tidings.gates.http.security.authorisation import AuthorisationEndpoints
from tidings.model.errors import TidingsError
from tidings.security.administration import Administration
from tidings.security.audit import AuditLog, Event
from tidings.security.authority import Authority, vault_of
from tidings.security.errors import KeysUnusable
from tidings.security.issuers.fetching import Fetching
from tidings.security.policy.policies import FILE
from tidings.security.private_file import write_private
from tidings.security.settings import SecuritySettings
from tidings.security.upkeep import upkeep
from tidings.server.config import Settings
from tidings.server.security.choices import granted, needs_administrator, read_choices, read_file
from tidings.server.security.first_administrator import founder
from tidings.server.security.guard import SecureGuard

AUDIT = "audit.jsonl"
SECRET = "admin.secret"
PAUSE = 1.0
"""Seconds between two checks whether the file of security has changed."""
_MICROS = 1_000_000

log = logging.getLogger("tidings")


class NoAuditLog:
    """The audit log of a broker in memory, which writes nothing."""

    def __call__(self, event: Event) -> None:
        """Ignore the event."""

    def write(self) -> None:
        """Do nothing."""


class Security:
    """Everything that a broker with security has in addition."""

    def __init__(
        self, broker: Broker, settings: Settings, chosen: SecuritySettings, monotonic: Callable[[], float]
    ) -> None:
        self._settings = settings
        self._chosen = chosen
        self._folder = None if broker.disk is None else broker.disk.folder
        path = _audit_path(settings)
        self.audit: AuditLog | NoAuditLog = NoAuditLog() if path is None else AuditLog(path, broker.now)
        reads = settings.access_log
        self.access: AuditLog | NoAuditLog = NoAuditLog() if reads is None else AuditLog(Path(reads), broker.now)
        self._fetching = Fetching()
        self.authority = Authority(
            chosen, broker.facts, vault_of(self._folder), self._fetching,
            clock=broker.now, monotonic=monotonic, audit=self.audit,
        )  # fmt: skip
        grace = round(settings.token_grace * _MICROS)
        self.guard = SecureGuard(self.authority, broker.now, grace, self.audit, self.access)
        broker.ownership.rights_of = self.guard.rights_of
        broker.delayed.settled = self.guard.settled
        self._administration = Administration(self.authority)
        for kinds, keeper in self.authority.keepers():
            broker.facts.keep(kinds, keeper)

    def routes(self) -> list[BaseRoute]:
        """The additional routes of the HTTP gate."""
        return [
            *AuthorisationEndpoints(self.authority.server).routes(),
            *AdministrationEndpoints(self._administration, self.guard).routes(),
        ]

    def write(self) -> None:
        """Write the waiting events of the audit log and the access log."""
        self.audit.write()
        self.access.write()

    @asynccontextmanager
    async def running(self, say: Callable[[str], None]) -> AsyncIterator[None]:
        """Run security while the broker runs. Raises KeysUnusable, or the error of writing a fact."""
        try:
            await self.authority.begin()
            await self._begin_administration(say)
            tasks = [
                asyncio.create_task(work)
                for work in (upkeep(self.authority, self), self.guard.presences.run(), self._follow_file())
            ]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            self.write()
            self.authority.close()
            await self._fetching.__aexit__()

    # -- the first administrator ----------------------------------------------------------------------------------

    async def _begin_administration(self, say: Callable[[str], None]) -> None:
        """Register the first administrator, if nobody else can administer. It writes the file with the secret before it
        registers the client: after a crash in between, the next start makes another client."""
        credentials = self.authority.credentials
        if self._administration.is_in_hands():
            return
        wanted = founder(self._chosen, self.authority.policies.policy.grants)
        if wanted is None or credentials.find(wanted.name) is not None:
            return
        path = None if self._folder is None else self._folder / SECRET
        registered = await credentials.enroll(
            wanted.name, wanted.roles, wanted.scopes, lambda secret: _keep_secret(path, secret)
        )
        self.audit(Event("enroll", target=wanted.name))
        where = registered.secret if path is None else f"in {path}: keep it elsewhere, and remove the file"
        may = "may do everything" if needs_administrator(self._chosen) else "administers, as its grants say"
        say(f"the client {wanted.name} {may}; its secret is {where}")

    # -- the file -------------------------------------------------------------------------------------------------

    async def _follow_file(self, pause: float = PAUSE) -> None:
        """Watch the file, and apply its grants whenever it changes. A file with a mistake changes nothing."""
        if self._settings.security is None:
            return
        path = Path(self._settings.security)
        known = _version(path)
        while True:
            await asyncio.sleep(pause)
            if (version := _version(path)) != known:
                known = version
                await self.read_again()

    async def read_again(self) -> None:
        """Read the file again, and apply its grants."""
        assert self._settings.security is not None
        try:
            content = read_file(self._settings.security, self._chosen.issuer)
            await self.authority.policies.replace(FILE, granted(content))
        except TidingsError as error:
            log.error("the changed security file is not used, and the old grants stay: %s", error)  # noqa: TRY400
            self.audit(Event("policy", decision="refused", reason=error.code))
        else:
            self.audit(Event("policy", target=self._settings.security))


def build(broker: Broker, settings: Settings, address: str, monotonic: Callable[[], float]) -> Security:
    """Build security. `address` is the broker's URL for clients. Raises BadSetting."""
    return Security(broker, settings, read_choices(settings, address), monotonic)


def _audit_path(settings: Settings) -> Path | None:
    """The path of the audit log; None for a broker in memory without a path in its settings."""
    if settings.audit_log is not None:
        return Path(settings.audit_log)
    return None if settings.memory else Path(settings.data) / AUDIT


def _keep_secret(path: Path | None, secret: str) -> None:
    """Raises KeysUnusable."""
    if path is None:
        return
    try:
        write_private(path, f"{secret}\n".encode())
    except OSError as error:
        raise KeysUnusable(f"the secret {path} cannot be written: {error.strerror}") from error


def _version(path: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        found = path.stat()
        return found.st_mtime_ns, found.st_size
    return None
