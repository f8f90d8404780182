"""Names and filters of topics (MQTT 5, section 4.7): `+` is any one level, `#` all that follow."""

from tidings.model.errors import BadRequest

LONGEST = 65_535
"""Bytes of a name or a filter."""


def check_name(topic: str) -> str:
    """The name of a topic that can be published to. Raises BadRequest."""
    if not topic or len(topic.encode()) > LONGEST or not topic.isprintable() or "+" in topic or "#" in topic:
        raise BadRequest(f"this is not the name of a topic: {topic[:100]!r}")
    if topic.startswith("$"):
        raise BadRequest(f"{topic[:100]!r} is a topic of the MQTT broker itself")
    return topic


def check_filter(filter_: str) -> str:
    """Raises BadRequest."""
    levels = filter_.split("/")
    plain = [level for level in levels[:-1] if level != "+"] + [level for level in levels[-1:] if level not in "+#"]
    if not filter_ or len(filter_.encode()) > LONGEST or any("+" in level or "#" in level for level in plain):
        raise BadRequest(f"this is not a filter of topics: {filter_[:100]!r}")
    return filter_


def matches(filter_: str, topic: str) -> bool:
    """Whether a filter covers a topic. Wildcards in front cover no topic that begins with `$`."""
    if topic[:1] == "$" and filter_[:1] in {"+", "#"}:
        return False
    wanted, levels = filter_.split("/"), topic.split("/")
    for number, level in enumerate(wanted):
        if level == "#":
            return True
        if number == len(levels) or (level != "+" and level != levels[number]):
            return False
    return len(wanted) == len(levels)


def overlap(one: str, other: str) -> bool:
    """Whether there is a topic that both filters cover."""
    here, there = one.split("/"), other.split("/")
    for left, right in zip(here, there, strict=False):
        if "#" in {left, right}:
            return True
        if left != right and "+" not in {left, right}:
            return False
    longer, least = max(here, there, key=len), min(len(here), len(there))
    return len(longer) == least or longer[least] == "#"  # which covers the level above it as well
