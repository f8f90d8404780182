"""The guard of a broker with security: authenticates clients by their tokens, and records what they do.

no token       an anonymous client, with the rights of everybody in the policy; 401 if there are none
a token        its client, or the subject of an external issuer, with their rights in the policy
a resident     a client that the settings name, with its rights in the policy at that moment
"""

from collections import Counter
from collections.abc import Callable, Iterable

from tidings.broker.errors import NotYours
from tidings.broker.updates.accepted import Outcome
from tidings.broker.updates.schedule import Delayed
from tidings.gates.asking import Asker, Changed, Deed, Leave, Resident, Shown
from tidings.gates.errors import ForAdministrators
from tidings.gates.figures import Figure
from tidings.model.access import NO_RIGHTS, Rights
from tidings.model.errors import GraphNotWritable, MayNotSubscribe, TidingsError
from tidings.security.audit import Audit, Event, no_audit
from tidings.security.authority import Authority
from tidings.security.errors import InvalidRequest
from tidings.security.passport import ANONYMOUS, Passport
from tidings.server.security.presences import Presences, Standing

_FOR_OTHERS = (GraphNotWritable, MayNotSubscribe, NotYours, ForAdministrators)
"""Errors for which an anonymous client gets 401, because a client with a token might have the rights."""
_MOST_STRANGERS = 10_000
_MOST_RECALLED = 1_000


class SecureGuard:
    """`clock` returns microseconds since 1970; a subscription outlives its token by `grace` microseconds."""

    asks = True

    def __init__(
        self, authority: Authority, clock: Callable[[], int], grace: int, audit: Audit, access: Audit = no_audit
    ) -> None:
        self._authority = authority
        self._clock = clock
        self._audit = audit
        self._access = access
        """The access log: takes all events, also of reading, and of failures for other reasons than rights."""
        self._strangers: dict[str, Passport] = {}
        """The last passport of each subject of an external issuer."""
        self.presences = Presences(self._standing, self.anybody, clock, grace)
        self.refusals: Counter[str] = Counter()
        self._recalled: dict[str | None, tuple[int, Asker]] = {}
        """The asker for each token, with the time when the token expires; emptied when tokens or grants change."""
        authority.followers |= {self._recalled.clear, self.presences.doubt}

    def figures(self) -> Iterable[Figure]:
        authority = self._authority
        yield Figure("clients", "Clients that are registered", len(authority.credentials))
        yield Figure("keys", "Keys whose tokens count", sum(1 for _ in authority.keys))
        yield Figure("grants", "Grants that hold", len(authority.policies.policy.grants))
        yield Figure("tokens_issued", "Tokens issued since the start", authority.issuer.issued, grows=True)

    # -- for the gates --------------------------------------------------------------------------------------------

    def recall(self, authorization: Shown) -> Asker | None:
        if isinstance(authorization, Resident):
            return Asker(authorization.subject, self.rights_of(authorization.subject))
        recalled = self._recalled.get(authorization)
        if recalled is not None and self._clock() < recalled[0]:
            return recalled[1]
        passport = self._authority.recall(authorization)
        if passport is None:
            return None
        asker = self._asker(passport)
        if len(self._recalled) >= _MOST_RECALLED:
            self._recalled.clear()
        self._recalled[authorization] = passport.expires, asker
        return asker

    async def identify(self, authorization: Shown) -> Asker:
        if isinstance(authorization, Resident):
            return Asker(authorization.subject, self.rights_of(authorization.subject))
        return self._asker(await self._authority.identify(authorization))

    def attend(self, authorization: Shown, asker: Asker, changed: Changed) -> Leave:
        return self.presences.enter(authorization, (asker.rights, asker.expires), changed)

    def judge(self, asker: Asker | None, deed: Deed, error: TidingsError | None = None) -> TidingsError | None:
        who = (asker.subject if asker is not None else None) or ""
        if error is None:
            done = Event(deed.what, who, deed.where, target=deed.target, commit=deed.commit)
            self._access(done)
            if not deed.reads:
                self._audit(done)
            return None
        if asker is not None and asker.subject is None and isinstance(error, _FOR_OTHERS):
            error = InvalidRequest(f"{error}; show a token of one who may")
        refused = Event(deed.what, who, deed.where, "refused", error.code, deed.target)
        self._access(refused)
        if error.status in (401, 403):
            self.refusals[error.code] += 1
            self._audit(refused)
        return error

    # -- for the broker -------------------------------------------------------------------------------------------

    def rights_of(self, subject: str | None) -> Rights:
        """The present rights of a subject that shows no token; delayed updates run with these rights."""
        if subject is None:
            return self.anybody()
        client = self._authority.credentials.find(subject)
        if client is not None:
            return self._authority.rights_of(client.passport())
        stranger = self._strangers.get(subject)
        if stranger is None or self._clock() >= stranger.expires:
            return NO_RIGHTS
        return self._authority.rights_of(stranger)

    def settled(self, delayed: Delayed, outcome: Outcome) -> None:
        """Record that a delayed update was executed, or failed, in the absence of its owner."""
        asker = Asker(delayed.owner, delayed.rights)
        if isinstance(outcome, TidingsError):
            self.judge(asker, Deed("delayed", target=delayed.id), outcome)
        else:
            self.judge(asker, Deed("delayed", target=delayed.id, commit=outcome.commit))

    def anybody(self) -> Rights:
        """The rights of anonymous clients."""
        return self._authority.rights_of(ANONYMOUS)

    def _asker(self, passport: Passport) -> Asker:
        rights = self._authority.rights_of(passport)
        if not passport.is_anonymous:
            return Asker(self._subject(passport), rights, passport.expires)
        if rights == NO_RIGHTS:
            raise InvalidRequest("there is no token, and this broker asks everybody who they are")
        return Asker(None, rights)

    def _subject(self, passport: Passport) -> str:
        """The unique name of a client. The name of an external issuer is a prefix of its subjects, so that none of them
        has the name of a registered client."""
        name, colon, _ = passport.client.partition(":")
        if not colon:
            return passport.subject
        subject = f"{name}:{passport.subject}"
        if self._strangers.get(subject) is not passport:
            self._strangers.pop(subject, None)
            while len(self._strangers) >= _MOST_STRANGERS:
                del self._strangers[next(iter(self._strangers))]
            self._strangers[subject] = passport
        return subject

    async def _standing(self, shown: Shown) -> Standing:
        if isinstance(shown, Resident):
            return self.rights_of(shown.subject), None
        passport = await self._authority.identify(shown)
        return self._authority.rights_of(passport), None if passport.is_anonymous else passport.expires
