"""The settings of the gates that are off until one of these switches them on; `Settings` has them beside all others."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GateSettings:
    """A group a gate. The first of each switches it on."""
