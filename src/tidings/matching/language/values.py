"""Events and subscriptions: sets of attribute = value, as in the paper, and comparisons of numbers.

    Event         {parking vacancy = 3, city = Galway}
    Subscription  {empty parking slot~ > 0, city = galway~}

`~` after a term asks for approximate matching of that term; every other term must be the same, up to case and spacing.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

Value: TypeAlias = str | int | float
"""A text, or a number. JSON's true and false are the texts "true" and "false"."""


class EventTuple(Struct, frozen=True, gc=False):
    """One attribute = value of an event. An attribute with several values has a tuple for each. It is a Struct because
    score tables look up tuples, and its hash takes a quarter of the time of a dataclass's."""

    attribute: str
    value: Value


@dataclass(frozen=True, slots=True)
class Event:
    tuples: tuple[EventTuple, ...]
    id: str | None = None
    """An IRI, if the publisher gave the event one."""


class Operator(StrEnum):
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="


@dataclass(frozen=True, slots=True)
class Equals:
    """The tuple's value is this one, or, if approximate, has about the same meaning."""

    value: Value
    approximate: bool = False


@dataclass(frozen=True, slots=True)
class Compares:
    """The tuple's value is a number on this side of the bound."""

    operator: Operator
    bound: float


@dataclass(frozen=True, slots=True)
class Between:
    """The tuple's value is a number from `low` to `high`; each end belongs to the range unless it is open."""

    low: float
    high: float
    low_open: bool = False
    high_open: bool = False


Condition: TypeAlias = Equals | Compares | Between


@dataclass(frozen=True, slots=True)
class Predicate:
    """The condition on one tuple of an event: its attribute, exact or approximate, and a condition on its value."""

    attribute: str
    condition: Condition
    approximate_attribute: bool = False

    @property
    def approximate(self) -> bool:
        """Whether its attribute or its value is approximate."""
        return self.approximate_attribute or (isinstance(self.condition, Equals) and self.condition.approximate)


class Scoring(StrEnum):
    """How the score of a predicate and a tuple is computed from their terms."""

    PRODUCT = "product"
    """The paper's: relatedness of the attributes times relatedness of the values."""
    JOINT = "joint"
    """The mean of that product and of the relatedness of "attribute value", read as one phrase."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a subscription; None stands for the calibrated value of the relatedness backend."""

    threshold: float | None = None
    """The least match degree, 0 to 1."""
    floor: float | None = None
    """The least score with which a tuple meets a predicate, 0 to 1."""
    scoring: Scoring | None = None
    attribute_exponent: float | None = None
    """Below 1, differing attributes matter less than differing values."""
    mappings: int = 1
    """How many of the best mappings of an event to report."""


DEFAULTS = Parameters()


@dataclass(frozen=True, slots=True)
class Subscription:
    """An event matches if it meets all predicates, each with a tuple of its own."""

    predicates: tuple[Predicate, ...]
    parameters: Parameters = DEFAULTS
