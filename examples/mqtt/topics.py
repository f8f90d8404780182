"""The Topics Manager, a producer: maps each topic to an observation, with a pattern that reads its values."""

from collections.abc import Iterator, Mapping
from typing import Any

from patience import Patient

from tidings.client import Application, Jsap

MEMBERS = ("observation", "unit", "location", "comment", "label", "pattern")


class TopicsManager:
    """Adds mappings to the graph: those of the profile at the start, and others later."""

    def __init__(self, app: Application) -> None:
        self._profile = app.profile
        self._add = Patient(app, app.profile.update("ADD_OBSERVATION"))

    async def start(self) -> int:
        """Add the mappings of the profile. Returns their number."""
        known = list(mappings(self._profile))
        for topic, mapping in known:
            await self.add(topic, mapping)
        return len(known)

    async def add(self, topic: str, mapping: Mapping[str, Any]) -> None:
        """Add an observation, or replace it; a replaced one has no value until the next one arrives."""
        await self._add(topic=topic, **{name: mapping[name] for name in MEMBERS if name in mapping})


def mappings(profile: Jsap) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The mappings of a profile. A topic has one, or a list of them if its payloads have several values."""
    for topic, some in profile.extended["semantic-mappings"].items():
        for mapping in some if isinstance(some, list) else [some]:
            yield topic, mapping
