"""What a check says: whether all is well, what was found, and what to do about it."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

State: TypeAlias = Literal["ok", "note", "problem"]
"""A note is worth knowing, and keeps nobody from running a broker; a problem does."""


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    state: State
    found: str
    advice: str = ""

    def __post_init__(self) -> None:
        if self.state == "problem" and not self.advice:
            raise ValueError(f"{self.name} is a problem, and nobody says what to do about it")
