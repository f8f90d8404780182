"""The KB loader of the PES paper: loads a knowledge base into a target, n triples at a time.

    checksum = sum of digest(triple) modulo 2^128        independent of the order and the batches

A knowledge base is a list of sources: files (N-Triples, Turtle, Notation3 as far as it is Turtle, RDF/XML, JSON-LD;
gzip or not) and generators with a size. A batch is one request with triples of one source; `sources` describes how
blank nodes become IRIs.
"""

import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import TypeAlias

from tidings.bench.targets import Target
from tidings.bench.workloads import city
from tidings.bench.workloads.sources import Source, source_of
from tidings.model.errors import LoadFailed, RdfSyntaxError, TidingsError
from tidings.model.terms import Triple

SEED = city.SEED
BATCH = 1000

Progress: TypeAlias = Callable[[float, float, str], None]
"""Called after each batch: loaded triples, expected triples, and a text with the source, the rate and the time left."""


class KnowledgeFailed(LoadFailed):
    """Loading a knowledge base failed: the source, the place in it, and the number of triples loaded before."""

    code = "knowledge_failed"

    def __init__(self, message: str, *, source: str, line: int | None = None, triples: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.source = source
        self.line = line
        self.triples = triples

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}, line {self.line}"
        return f"{place}: {self.message} ({self.triples:,} triples are in)"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The result of loading a knowledge base."""

    triples: int
    requests: int
    seconds: float
    checksum: str


class Checksum:
    """A checksum that is equal if two runs had the same triples. A triple that comes twice counts twice."""

    def __init__(self) -> None:
        self._sum = 0

    def add(self, triples: Iterable[Triple]) -> None:
        for s, p, o in triples:
            self._sum += int.from_bytes(blake2b(f"{s} {p} {o}".encode(), digest_size=16).digest())

    def __str__(self) -> str:
        return f"{self._sum % (1 << 128):032x}"


def checksum(sources: Sequence[str], seed: int = SEED) -> str:
    """The checksum of a knowledge base, without a target. Raises KnowledgeFailed."""
    total = Checksum()
    for _, triples in _batches(_opened(sources, seed), BATCH):
        total.add(triples)
    return str(total)


async def load(
    target: Target,
    sources: Sequence[str],
    *,
    batch: int = BATCH,
    seed: int = SEED,
    progress: Progress | None = None,
) -> Loaded:
    """Load a knowledge base into a target. After a failure, loaded triples stay. Raises KnowledgeFailed."""
    total, told = Checksum(), _Told(progress)
    requests = held = 0
    opened = _opened(sources, seed)
    for source, triples in _batches(opened, batch):
        await _insert(target, source, triples, held)
        held += len(triples)
        requests += 1
        total.add(triples)
        told.batch(opened, source, len(triples))
    return Loaded(held, requests, told.seconds, str(total))


async def batches(target: Target, sources: Sequence[str], batch: int, seed: int = SEED) -> AsyncIterator[int]:
    """Load step by step, so that the caller can act in between; yields the number of triples of each step."""
    held = 0
    for source, triples in _batches(_opened(sources, seed), batch):
        await _insert(target, source, triples, held)
        held += len(triples)
        yield len(triples)


def _opened(sources: Sequence[str], seed: int) -> list[Source]:
    """All sources, so that a wrong name is reported before loading starts."""
    found: list[Source] = []
    for text in sources:
        try:
            found.append(source_of(text, seed))
        except TidingsError as error:
            raise KnowledgeFailed(str(error), source=text) from error
        except OSError as error:
            raise KnowledgeFailed(error.strerror or str(error), source=text) from error
    return found


def _batches(sources: Sequence[Source], batch: int) -> Iterator[tuple[Source, list[Triple]]]:
    if batch < 1:
        raise ValueError(f"a batch has at least 1 triple, not {batch}")
    held = 0
    for source in sources:
        triples = source.triples()
        while some := _some(source, triples, batch, held):
            yield source, some
            held += len(some)


def _some(source: Source, triples: Iterator[Triple], batch: int, held: int) -> list[Triple]:
    try:
        return list(islice(triples, batch))
    except RdfSyntaxError as error:
        raise KnowledgeFailed(error.message, source=source.name, line=error.line, triples=held) from error
    except TidingsError as error:
        raise KnowledgeFailed(str(error), source=source.name, triples=held) from error
    except (EOFError, zlib.error) as error:
        raise KnowledgeFailed(f"not a whole gzip file: {error}", source=source.name, triples=held) from error
    except OSError as error:  # includes gzip.BadGzipFile, which has no strerror
        raise KnowledgeFailed(error.strerror or str(error), source=source.name, triples=held) from error


async def _insert(target: Target, source: Source, triples: list[Triple], held: int) -> None:
    try:
        await target.insert(triples)
    except (TidingsError, TimeoutError, OSError) as error:
        why = "no answer in time" if isinstance(error, TimeoutError) else str(error)
        message = f"triples {held + 1:,} to {held + len(triples):,} were not taken: {why}"
        raise KnowledgeFailed(message, source=source.name, triples=held) from error


class _Told:
    """The rate and the estimated total: complete sources are counted, the present one estimates itself by its position,
    the others by their sizes."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._begun = time.perf_counter()
        self._held: dict[int, int] = {}
        """Triples by the place of their source in the list."""

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._begun

    def batch(self, sources: list[Source], source: Source, triples: int) -> None:
        place = next(n for n, each in enumerate(sources) if each is source)
        self._held[place] = self._held.get(place, 0) + triples
        if self._progress is None:
            return
        done = sum(self._held.values())
        ahead = sum(each.expected(0) for each in sources[place + 1 :])
        expected = done - self._held[place] + source.expected(self._held[place]) + ahead
        rate = done / max(self.seconds, 1e-9)
        self._progress(done, expected, f"{source.name}: {rate:,.0f} triples/s, {(expected - done) / rate:,.0f} s left")
