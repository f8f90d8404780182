"""A taxonomy: topics, each below a broader one or at the top."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_DEEPEST = 64


@dataclass(frozen=True, slots=True)
class Topic:
    """What it is called, what else, and what is broader; of several broader topics, the first counts."""

    id: str
    label: str
    alternatives: tuple[str, ...] = ()
    broader: str | None = None


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """Topics in the order in which they came. A broader topic that is not there, or is below, is none."""

    name: str
    topics: tuple[Topic, ...]
    _known: Mapping[str, Topic] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_known", {topic.id: topic for topic in self.topics})

    def __len__(self) -> int:
        return len(self.topics)

    def path(self, topic: str) -> list[str]:
        """From the top to the topic."""
        found = [topic]
        while (above := self._above(found[-1])) is not None and above not in found and len(found) < _DEEPEST:
            found.append(above)
        return found[::-1]

    def at(self, topic: str, level: int) -> str:
        """The topic of this level that it is under: 1 is the top. A topic above that level stays what it is."""
        path = self.path(topic)
        return path[min(level, len(path)) - 1]

    def label(self, topic: str) -> str:
        return self._known[topic].label

    def _above(self, topic: str) -> str | None:
        broader = self._known[topic].broader
        return broader if broader in self._known else None


def taxonomy(name: str, topics: Iterable[Topic]) -> Taxonomy:
    """Of topics of one id, the first."""
    distinct = {topic.id: topic for topic in reversed(list(topics))}
    return Taxonomy(name, tuple(reversed(distinct.values())))
