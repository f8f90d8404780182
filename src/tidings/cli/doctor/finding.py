"""The result of a check: its state, what the check found, and advice."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

State: TypeAlias = Literal["ok", "note", "problem"]
"""A problem prevents a broker from running; a note does not."""


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    state: State
    found: str
    advice: str = ""

    def __post_init__(self) -> None:
        if self.state == "problem" and not self.advice:
            raise ValueError(f"{self.name} is a problem, and nobody says what to do about it")
