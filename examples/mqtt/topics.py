"""The Topics Manager, a producer: says which observation the values of a topic belong to, and how to read them."""

from collections.abc import Iterator, Mapping
from typing import Any

from patience import Patient

from tidings.client import Application, Jsap

MEMBERS = ("observation", "unit", "location", "comment", "label", "pattern")


class TopicsManager:
    """Adds mappings: those of the profile at the start, others whenever there are some."""

    def __init__(self, app: Application) -> None:
        self._profile = app.profile
        self._add = Patient(app, app.profile.update("ADD_OBSERVATION"))

    async def start(self) -> int:
        """Add what the profile knows; how many these are."""
        known = list(mappings(self._profile))
        for topic, mapping in known:
            await self.add(topic, mapping)
        return len(known)

    async def add(self, topic: str, mapping: Mapping[str, Any]) -> None:
        """An observation that is there already is replaced; it has no value then until the next one comes."""
        await self._add(topic=topic, **{name: mapping[name] for name in MEMBERS if name in mapping})


def mappings(profile: Jsap) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The mappings of a profile. A topic has one, or a list of them if its payloads have several values."""
    for topic, some in profile.extended["semantic-mappings"].items():
        for mapping in some if isinstance(some, list) else [some]:
            yield topic, mapping
