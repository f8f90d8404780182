"""A taxonomy: topics, each below a broader one or at the top."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_DEEPEST = 64


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic: its label, alternative labels, and the id of a broader topic; of several broader ones, the first."""

    id: str
    label: str
    alternatives: tuple[str, ...] = ()
    broader: str | None = None


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """Topics in their original order. A broader topic that does not exist, or would form a cycle, is ignored."""

    name: str
    topics: tuple[Topic, ...]
    _known: Mapping[str, Topic] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_known", {topic.id: topic for topic in self.topics})

    def __len__(self) -> int:
        return len(self.topics)

    def path(self, topic: str) -> list[str]:
        """The ids from the top down to the topic."""
        found = [topic]
        while (above := self._above(found[-1])) is not None and above not in found and len(found) < _DEEPEST:
            found.append(above)
        return found[::-1]

    def at(self, topic: str, level: int) -> str:
        """The ancestor of a topic on this level; 1 is the top. The topic itself if it is above that level."""
        path = self.path(topic)
        return path[min(level, len(path)) - 1]

    def label(self, topic: str) -> str:
        return self._known[topic].label

    def _above(self, topic: str) -> str | None:
        broader = self._known[topic].broader
        return broader if broader in self._known else None


def taxonomy(name: str, topics: Iterable[Topic]) -> Taxonomy:
    """A taxonomy of these topics; of several with the same id, the first counts."""
    distinct = {topic.id: topic for topic in reversed(list(topics))}
    return Taxonomy(name, tuple(reversed(distinct.values())))
