"""Finds out who sends a message. A message may bring a token; without one, the last token on the connection holds.

For each subject with subscriptions on this connection, the guard reports when its token ends or gives it other rights.
The client can show another token before that.
"""

from tidings.broker.broker import Broker
from tidings.broker.subscriptions.subscriber import Session
from tidings.gates.asking import EVERYBODY, Asker, Deed, Guard, Leave
from tidings.model.access import Rights
from tidings.model.errors import TidingsError
from tidings.protocol.messages import Request

RENEWED = "another token was shown"


class Attendance:
    """`shown` is the last token that was accepted: at first, that of the handshake."""

    def __init__(self, broker: Broker, session: Session, guard: Guard, shown: str | None, where: str) -> None:
        self._broker = broker
        self._session = session
        self._guard = guard
        self._shown = shown
        self._where = where
        self._present: dict[str | None, tuple[str | None, Leave]] = {}
        """The subjects that have subscriptions on this connection, each with its token."""

    def recall(self, request: Request) -> Asker | None:
        """Who sends a message, if the guard knows the token already. Raises what is wrong with the token."""
        asker = self._guard.recall(request.authorization or self._shown)
        return asker if asker is EVERYBODY or asker is None else self._met(request, asker)

    async def identify(self, request: Request) -> Asker:
        """Who sends a message. Raises what is wrong with the token."""
        return self._met(request, await self._guard.identify(request.authorization or self._shown))

    def _met(self, request: Request, asker: Asker) -> Asker:
        if request.authorization:
            self._shown = request.authorization
        known = self._present.get(asker.subject)
        if known is not None and known[0] != self._shown:
            del self._present[asker.subject]
            known[1]()
            self.attend(asker)
            self._broker.rights_changed(asker.subject, asker.rights, RENEWED, self._session)
        return asker

    def attend(self, asker: Asker) -> None:
        """A client is about to subscribe: have the guard report changes of its rights."""
        if self._guard.asks and asker.subject not in self._present:

            def changed(rights: Rights, reason: str) -> None:
                self._broker.rights_changed(asker.subject, rights, reason, self._session)

            self._session.attend(asker.subject)
            self._present[asker.subject] = self._shown, self._guard.attend(self._shown, asker, changed)

    def end(self) -> None:
        """The client is gone."""
        for _, leave in self._present.values():
            leave()
        self._present.clear()

    # -- for the record -----------------------------------------------------------------------------------------

    def record(
        self, asker: Asker, what: str, target: str = "", commit: int | None = None, *, reads: bool = False
    ) -> None:
        if self._guard.asks:
            self._guard.judge(asker, Deed(what, self._where, target, commit, reads))

    def judged(self, error: TidingsError, asker: Asker | None, what: str) -> TidingsError:
        """An error as its client is to get it."""
        return self._guard.judge(asker, Deed(what, self._where), error) or error
