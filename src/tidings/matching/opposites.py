"""Pairs of opposites: "occupied" is related to "vacant" by any measure, but never means it.

The list is written for events of sensors, cities, energy and machines, and is used without WordNet. Verbs stand for all
their forms: increase/decrease are also increased/decreased, increases/decreases, increasing/decreasing.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Protocol

_WORDS = """
    vacant occupied, vacant taken, vacant full, vacant busy, free occupied, free taken, free busy, free full
    free reserved, empty full, empty occupied, available unavailable, available occupied, available taken
    available busy, vacancy occupancy, availability unavailability, unoccupied occupied, available full, empty taken
    vacant reserved, high low, higher lower, highest lowest, maximum minimum, max min, upper lower, peak trough
    top bottom, hot cold, warm cool, warmer cooler, hotter colder, wet dry, light dark, bright dark, loud quiet
    noisy silent, fast slow, faster slower, strong weak, heavy light, long short, early late, before after
    old new, big small, large small, many few, more less, rich poor, clean dirty, clear cloudy, clear foggy, safe unsafe
    safe dangerous, on off, up down, in out, inside outside, indoor outdoor, inner outer, left right, north south
    east west, northern southern, eastern western, arrival departure, entry exit, entrance exit, inbound outbound
    incoming outgoing, ingress egress, inflow outflow, inlet outlet, input output, import export, upload download
    upstream downstream, supply demand, production consumption, generation consumption, producer consumer
    success failure, pass fail, normal abnormal, regular irregular, stable unstable, valid invalid, legal illegal
    online offline, active inactive, present absent, presence absence, visible invisible, connected disconnected
    public private, day night, morning evening, summer winter, begin end, beginning end, start end, first last
    open shut, closed open, locked unlocked, armed disarmed, true false, yes no, positive negative, gain loss
    increase decrease, rise fall, growth decline, sunrise sunset, charge discharge, major minor, charged discharged
    working broken, functional broken, healthy faulty, running stopped, moving stationary, moving parked
    deficit surplus, shortage surplus, underload overload, expensive cheap, expansion contraction
"""
_VERBS = """
    increase decrease, raise lower, rise fall, grow shrink, open close, start stop, begin end, start end, start finish
    arrive depart, enter exit, enter leave, arrive leave, connect disconnect, enable disable, lock unlock, arm disarm
    charge discharge, accelerate decelerate, load unload, activate deactivate, switch unswitch, fill empty
    heat cool, strengthen weaken, expand contract, improve worsen, accept reject, allow forbid, permit prohibit
    add remove, insert delete, push pull, win lose, succeed fail, produce consume, generate consume, import export
    upload download, speed slow, attach detach, inflate deflate, ascend descend, freeze melt, plug unplug, wet dry
"""


_CLASSES = """
    monday tuesday wednesday thursday friday saturday sunday
    january february march april may june july august september october november december
    spring summer autumn winter
    one two three four five six seven eight nine ten eleven twelve
    first second third fourth fifth sixth seventh eighth ninth tenth
    north south east west
    red orange yellow green blue violet black white brown pink
"""
"""In each line, a word rules out all others. Their vectors are similar, but they are used to distinguish things."""


class Opposites(Protocol):
    """Knows which words rule each other out."""

    def opposites(self, word: str) -> frozenset[str]:
        """The opposites of a word in lower case. The relation need not be symmetric."""
        ...


class BuiltInOpposites:
    """The opposites of the lists above."""

    def __init__(self) -> None:
        self._of = _table(_all_pairs())

    def opposites(self, word: str) -> frozenset[str]:
        return self._of.get(word, _NONE)


class AllOpposites:
    """The union of several sources of opposites."""

    def __init__(self, *known: Opposites) -> None:
        self._known = known

    def opposites(self, word: str) -> frozenset[str]:
        return frozenset().union(*(each.opposites(word) for each in self._known))


_NONE: frozenset[str] = frozenset()


def _all_pairs() -> Iterator[tuple[str, str]]:
    yield from _pairs(_WORDS)
    for line in _CLASSES.strip().splitlines():
        yield from combinations(line.split(), 2)
    for left, right in _pairs(_VERBS):
        yield from zip(_forms(left), _forms(right), strict=True)


def _pairs(lines: str) -> Iterator[tuple[str, str]]:
    for pair in lines.replace("\n", ",").split(","):
        if pair.strip():
            left, right = pair.split()
            yield left, right


def _forms(verb: str) -> tuple[str, str, str, str, str]:
    """The forms of a verb: base, third person, past and present participle, agent noun."""
    stem = verb.removesuffix("e")
    if verb in _IRREGULAR:
        past = _IRREGULAR[verb]
    elif verb in _DOUBLED:
        stem = verb + verb[-1]
        past = f"{stem}ed"
    else:
        past = f"{stem}ed"
    return verb, f"{verb}s", past, f"{stem}ing", f"{stem}er"


_IRREGULAR = {
    "rise": "risen", "fall": "fallen", "grow": "grown", "shrink": "shrunk", "begin": "begun", "leave": "left",
    "forbid": "forbidden", "win": "won", "lose": "lost", "freeze": "frozen", "speed": "sped", "empty": "emptied",
    "dry": "dried",
}  # fmt: skip
_DOUBLED = {"stop", "begin", "win", "permit", "plug", "unplug", "wet", "forbid"}


def _table(pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for left, right in pairs:
        found.setdefault(left, set()).add(right)
        found.setdefault(right, set()).add(left)
    return {word: frozenset(others) for word, others in found.items()}
