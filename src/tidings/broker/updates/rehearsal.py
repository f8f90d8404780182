"""Rehearses an update: works out in a fork what it would change, and changes nothing.

rehearse(u) = the delta that u would have if it were carried out now
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
"""How many added or removed quads a rehearsal lists; it counts all of them."""


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
    """Rehearse an update in a fork. Raises what the update would raise."""
    work = partial(_work_out, engine, now, limits, text, dataset, rights)
    return await forks.run(work, seconds=limits.seconds, client=client)


def _work_out(
    engine: Engine, now: int, limits: Limits, text: str, dataset: Dataset | None, rights: Rights
) -> Rehearsal:
    """Runs in the fork."""
    return rehearsed(engine.work_out(*engine.prepare(text, dataset), now=now, limits=limits, rights=rights), rights)


def rehearsed(delta: ZSet[Quad], rights: Rights) -> Rehearsal:
    """A delta as a rehearsal, which lists only quads that the asker may read."""
    added = [quad for quad, weight in delta.items() if weight > 0]
    removed = [quad for quad, weight in delta.items() if weight < 0]
    return Rehearsal(len(added), len(removed), _shown(added, rights), _shown(removed, rights))


def _shown(quads: list[Quad], rights: Rights) -> tuple[Quad, ...]:
    """The quads of graphs that the asker may read. Of a graph that it may only write, it learns just the count."""
    return tuple(islice((quad for quad in quads if rights.read.has(quad[3])), MOST_SHOWN))
