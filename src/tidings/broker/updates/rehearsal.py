"""What an update would do, worked out on a copy of the store that is then thrown away.

rehearse(u) = the delta that u would have if it came now
"""

from dataclasses import dataclass
from functools import partial
from itertools import islice

from tidings.broker.forks import Forks
from tidings.engine.engine import Engine
from tidings.model.access import Rights
from tidings.model.terms import Quad
from tidings.model.zset import ZSet
from tidings.sparql.algebra import Dataset
from tidings.sparql.evaluate.context import Limits

MOST_SHOWN = 1_000
"""Quads that are told one by one; all of them are counted."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """How many quads would be added and removed, and the first of each that the asker may read."""

    added: int
    removed: int
    add: tuple[Quad, ...]
    remove: tuple[Quad, ...]


async def rehearse(
    engine: Engine, forks: Forks, now: int, limits: Limits, text: str, dataset: Dataset | None, rights: Rights,
    client: str | None,
) -> Rehearsal:  # fmt: skip
    """Raises what the update would raise."""
    work = partial(_work_out, engine, now, limits, text, dataset, rights)
    return await forks.run(work, seconds=limits.seconds, client=client)


def _work_out(
    engine: Engine, now: int, limits: Limits, text: str, dataset: Dataset | None, rights: Rights
) -> Rehearsal:
    """In the fork."""
    return rehearsed(engine.work_out(*engine.prepare(text, dataset), now=now, limits=limits, rights=rights), rights)


def rehearsed(delta: ZSet[Quad], rights: Rights) -> Rehearsal:
    """A delta that is only looked at."""
    added = [quad for quad, weight in delta.items() if weight > 0]
    removed = [quad for quad, weight in delta.items() if weight < 0]
    return Rehearsal(len(added), len(removed), _shown(added, rights), _shown(removed, rights))


def _shown(quads: list[Quad], rights: Rights) -> tuple[Quad, ...]:
    """Who may write a graph, and not read it, learns how many there are and nothing more."""
    return tuple(islice((quad for quad in quads if rights.read.has(quad[3])), MOST_SHOWN))
