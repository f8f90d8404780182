"""Finds the units that a quad concerns: the LUTT of the engine, with units in the place of plans.

Every task that reads the log has a router, for the version of the registry at the end of its batch. The router has no
subscriptions that ended before the batch; those that end within the batch are still in it.
"""

from collections.abc import Collection

from tidings.engine.engine import Engine
from tidings.engine.lutt import Items, Lutt
from tidings.engine.plans.spu import Subscription
from tidings.model.terms import Quad
from tidings.spark.streaming.subscriptions.registry import Begin, End, Registry
from tidings.spark.streaming.unit import Member


class Router:
    """The patterns of the quads that concern members. It has no quads: its engine only makes plans."""

    def __init__(self) -> None:
        self._engine = Engine()
        self._lutt: Lutt[int] = Lutt()
        self._members: dict[int, tuple[int, Subscription]] = {}

    def enter(self, unit: int, member: Member) -> int:
        """Add the patterns of a member. Returns a number by which it can leave again."""
        subscription, _ = self._engine.subscribe(member.text, member.dataset, now=0, rights=member.rights)
        self._members[subscription.id] = unit, subscription
        for key in self._engine.keys(subscription):
            self._lutt.put(key, unit)
        return subscription.id

    def leave(self, number: int) -> None:
        unit, subscription = self._members.pop(number)
        for key in self._engine.keys(subscription):
            self._lutt.drop(key, unit)
        self._engine.unsubscribe(number)

    def find(self, delta: Collection[tuple[Quad, int]]) -> dict[int, Items]:
        """The units that some quads concern, each with these quads."""
        return self._lutt.find(delta)

    def __len__(self) -> int:
        return len(self._members)


class Following:
    """A router that follows the versions of a registry."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._forget()

    def _forget(self) -> None:
        self._router = Router()
        self._version = 0
        self._start = 0
        self._here: dict[str, int] = {}
        self._ending: list[tuple[int, int]] = []
        """The members that will leave, with the commit after which they do."""

    def at(self, version: int, start: int) -> Router:
        """The router as of a version, for commits after `start`. Going back is possible, but slow."""
        if version < self._version or start < self._start:
            self._forget()
        for number in range(self._version + 1, version + 1):
            for command in self._registry.commands(number):
                match command:
                    case Begin(unit, member):
                        self._here[member.spuid] = self._router.enter(unit, member)
                    case End(_, spuid, commit):
                        self._ending.append((commit, self._here.pop(spuid)))
        for commit, member_number in self._ending:
            if commit <= start:
                self._router.leave(member_number)
        self._ending = [each for each in self._ending if each[0] > start]
        self._version, self._start = version, start
        return self._router
