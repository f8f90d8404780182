"""Event sets after the paper: seed events, their expansions, subscriptions, and the truth by provenance.

    seeds           picked from the vocabulary's kinds of events and places
    expansions      of a seed; each term is replaced, three times in ten, by a synonym or (one in five) a related term
    subscriptions   the type of a seed and some of its other tuples; the same for every degree of approximation
    truth           an event is relevant if it has, for each predicate, an expansion of that very tuple;
                    strict: made of synonyms only, loose: of related terms as well

The same seed gives the same set, on every machine.
"""

from dataclasses import dataclass
from random import Random

from tidings.bench.matching.vocabulary import Phrase, Slot, Vocabulary
from tidings.matching.language.values import Equals, Event, EventTuple, Parameters, Predicate, Subscription, Value

REPLACED = 0.3
RELATED = 0.2

Origin = tuple[str, Phrase]
"""A tuple of a seed event."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of an event set; the defaults are those of the paper."""

    seeds: int = 166
    events: int = 14_743
    subscriptions: int = 94


@dataclass(frozen=True, slots=True)
class Expanded:
    """An event, and for each of its tuples the tuple of the seed, and whether only synonyms replaced its terms."""

    event: Event
    origins: tuple[Origin, ...]
    strict: tuple[bool, ...]

    def relevant(self, wanted: frozenset[Origin], *, strict: bool) -> bool:
        """Whether the event is relevant to a subscription to these tuples."""
        there = {origin for origin, kept in zip(self.origins, self.strict, strict=True) if kept or not strict}
        return wanted <= there


@dataclass(frozen=True, slots=True)
class EventSet:
    events: tuple[Expanded, ...]
    wanted: tuple[tuple[Origin, ...], ...]
    """The tuples of each subscription."""
    order: tuple[tuple[int, ...], ...]
    """The order in which the terms of each subscription become approximate: attributes and values by turns."""

    def subscriptions(self, approximation: float, parameters: Parameters) -> list[Subscription]:
        """The subscriptions, with this share of their terms approximate, from 0 to 1."""
        return [
            _subscription(wanted, order, approximation, parameters)
            for wanted, order in zip(self.wanted, self.order, strict=True)
        ]


def event_set(words: Vocabulary, seed: int, sizes: Sizes) -> EventSet:
    random = Random(f"{words.name} {seed}")
    seeds = [_seed(words, random) for _ in range(sizes.seeds)]
    events = tuple(_expanded(words, seeds[place % len(seeds)], random) for place in range(sizes.events))
    wanted = tuple(_wanted(random.choice(seeds), random) for _ in range(sizes.subscriptions))
    order = tuple(tuple(random.sample(range(2 * len(each)), 2 * len(each))) for each in wanted)
    return EventSet(events, wanted, order)


def _seed(words: Vocabulary, random: Random) -> tuple[Origin, ...]:
    kind, place = random.choice(words.events), random.choice(words.places)
    taken = {attribute for attribute, _ in kind}
    slots: tuple[Slot, ...] = (*kind, *(slot for slot in place if slot[0] not in taken))
    return tuple((attribute, random.choice(values)) for attribute, values in slots)


def _wanted(seed: tuple[Origin, ...], random: Random) -> tuple[Origin, ...]:
    """The tuples of a subscription: the type of a seed event, and one to three of its other tuples."""
    kind, *others = seed
    return (kind, *random.sample(others, min(len(others), random.randint(1, 3))))


def _expanded(words: Vocabulary, seed: tuple[Origin, ...], random: Random) -> Expanded:
    tuples: list[EventTuple] = []
    kept: list[bool] = []
    origins = tuple(random.sample(seed, len(seed)))
    for attribute, value in origins:
        name, same_name = _replaced(words, (attribute,), random)
        text, same_text = _replaced(words, value, random)
        tuples.append(EventTuple(name, _value(text)))
        kept.append(same_name and same_text)
    return Expanded(Event(tuple(tuples)), origins, tuple(kept))


def _replaced(words: Vocabulary, phrase: Phrase, random: Random) -> tuple[str, bool]:
    """A phrase with some terms replaced, and whether only synonyms replaced them."""
    parts: list[str] = []
    strict = True
    for term in phrase:
        known = words.terms.get(term)
        if known is None or random.random() >= REPLACED:
            parts.append(term)
        elif known.related and random.random() < RELATED:
            parts.append(random.choice(known.related))
            strict = False
        else:
            parts.append(random.choice(known.synonyms))
    return " ".join(parts), strict


def _subscription(
    wanted: tuple[Origin, ...], order: tuple[int, ...], approximation: float, parameters: Parameters
) -> Subscription:
    approximate = set(order[: round(approximation * len(order))])
    predicates = tuple(
        Predicate(attribute, Equals(_value(" ".join(value)), 2 * place + 1 in approximate), 2 * place in approximate)
        for place, (attribute, value) in enumerate(wanted)
    )
    return Subscription(predicates, parameters)


def _value(text: str) -> Value:
    return int(text) if text.isdigit() else text
