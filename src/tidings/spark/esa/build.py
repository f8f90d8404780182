"""The job that builds an ESA index. After an interruption, it resumes where it ended.

    OUT/build.json       the source and the parameters of the index
    OUT/rounds/N.json    a round of pieces, whose counts are in OUT/counts/…
    OUT/vocabulary.parquet, OUT/postings/…   the inverted index; postings.json marks it as complete
    OUT/esa.json and arrays                  the finished index; counts and rounds are then removed

Files that no manifest names are ignored, and the next build removes those that a killed build has left.
"""

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from tidings.lexicons.esa.folder import MANIFEST, Manifest, read_manifest
from tidings.log.layout import write_whole
from tidings.log.lines import is_sealed, sealed
from tidings.spark.esa import counting, postings
from tidings.spark.esa.errors import BuildForeign, DumpDamaged, NothingToIndex
from tidings.spark.esa.serving import serve
from tidings.spark.esa.sources import Piece, Source
from tidings.spark.lock import locked

_VERSION = 2
_EACH_CORE = 16
"""Pieces of a round for each core. A killed build loses the present round, about 100 MB of a dump for each core."""


class Parameters(msgspec.Struct, frozen=True):
    """The parameters of an index."""

    shortest: int
    """The fewest different terms of a document."""
    rarest: int
    """The fewest documents that must have a term."""
    commonest: float = 0.25
    """The greatest share of documents that may have a term."""
    most: int = 1000
    """The most concepts of a term."""
    least: float = 0.0
    """The least weight of a concept of a term, as a share of the term's greatest weight."""
    vocabulary: int = 2_000_000
    """The most terms of the index; the most frequent ones are kept."""
    lenient: bool = False
    """Skip damaged parts of the source."""


class About(msgspec.Struct, frozen=True):
    """The content of build.json."""

    version: int
    source: str
    identity: str
    parameters: Parameters


class Round(msgspec.Struct, frozen=True):
    """The files of a finished step: the counts of some pieces, or all postings."""

    pieces: int
    """How many pieces, which follow those of earlier rounds. A resumed build may have more cores, and larger rounds."""
    files: list[str]
    tally: dict[str, int]


class Progress(NamedTuple):
    stage: str
    done: int
    total: int
    tally: Counter[str]
    read: int = 0
    """How many pages this run has read, without those of earlier runs."""


class Build:
    """The job. Raises BuildForeign, DumpDamaged, NothingToIndex, and the errors of Spark."""

    def __init__(
        self,
        spark: SparkSession,
        source: Source,
        out: Path,
        parameters: Parameters,
        told: Callable[[Progress], None] = lambda _: None,
        round_pieces: int | None = None,
    ) -> None:
        self._spark, self._source, self._out, self._how, self._told = spark, source, out, parameters, told
        self._pieces = source.pieces()
        self._each = round_pieces or _EACH_CORE * spark.sparkContext.defaultParallelism

    def run(self) -> Manifest:
        self._out.mkdir(parents=True, exist_ok=True)
        with locked(self._out):
            self._begin()
            if (self._out / MANIFEST).exists():
                return read_manifest(self._out)
            for name in ("rounds", "counts"):
                (self._out / name).mkdir(exist_ok=True)
            rounds = self._count()
            concepts = self._concepts(rounds)
            words = self._words(rounds, len(concepts))
            files = self._postings(rounds, words)
            self._told(Progress("serving", 0, 1, _tally(rounds)))
            how = {name: float(value) for name, value in msgspec.structs.asdict(self._how).items()}
            made = serve(self._out, files, words, concepts, self._source.name, how)
            self._told(Progress("serving", 1, 1, _tally(rounds)))
            for name in ("counts", "rounds"):
                shutil.rmtree(self._out / name, ignore_errors=True)
            return made

    # -- beginning or resuming ---------------------------------------------------------------------------------------

    def _begin(self) -> None:
        about = About(_VERSION, self._source.name, self._source.identity, self._how)
        path = self._out / "build.json"
        if not path.exists():
            others = sorted(each.name for each in self._out.iterdir() if each.name != "lock")
            if others:
                raise BuildForeign(f"{self._out} has no build.json but other things in it ({others[0]})")
            _write(path, about)
        elif (found := _read(path, About)) != about:
            what = "of other parameters" if found and found.identity == about.identity else "of something else"
            raise BuildForeign(f"{self._out} has an index {what}, finished or not: build into another folder")

    # -- counting ----------------------------------------------------------------------------------------------------

    def _count(self) -> list[Round]:
        done: list[Round] = []
        counted = read = 0
        while counted < len(self._pieces):
            found = _read(self._out / "rounds" / f"{len(done)}.json", Round)
            if found is None:
                found = self._round(len(done), self._pieces[counted : counted + self._each])
                read += found.tally.get(counting.PAGES, 0)
            done.append(found)
            counted += found.pieces
            left = -(-(len(self._pieces) - counted) // self._each)
            self._told(Progress("reading", len(done), len(done) + left, _tally(done), read))
        return done

    def _round(self, number: int, pieces: list[Piece]) -> Round:
        found = counting.count(self._spark, pieces, self._out / "counts", self._how.shortest, lenient=self._how.lenient)
        tally: Counter[str] = Counter()
        for each in found:
            tally.update(each.tally)
        made = Round(len(pieces), [each.file for each in found], dict(tally))
        _write(self._out / "rounds" / f"{number}.json", made)
        return made

    def _counts(self, rounds: list[Round]) -> list[Path]:
        return [self._out / "counts" / file for each in rounds for file in each.files]

    def _concepts(self, rounds: list[Round]) -> pa.Table:
        """The page numbers and titles, ordered by number: the only data of pages that this process keeps."""
        tables = [pq.read_table(each, columns=["pages", "titles"]) for each in self._counts(rounds)]
        pages = np.concatenate(
            [np.frombuffer(each.as_buffer(), np.int64) for table in tables for each in table["pages"]]
        )
        titles = pa.chunked_array([table["titles"].combine_chunks().flatten() for table in tables])
        found = pa.table({"page": pages, "title": titles}).sort_by("page")
        if not len(found):
            raise NothingToIndex(f"{self._source.name} has no document of {self._how.shortest} different words or more")
        pages = found["page"].to_numpy()
        twice = pages[1:][pages[1:] == pages[:-1]]
        if twice.size:
            raise DumpDamaged(f"page {twice[0]} comes more than once: was a file of the dump given in two forms?")
        return found

    # -- the inverted index ------------------------------------------------------------------------------------------

    def _words(self, rounds: list[Round], documents: int) -> pa.Table:
        path = self._out / "vocabulary.parquet"
        if path.exists():
            return pq.read_table(path)
        self._told(Progress("vocabulary", 0, 1, _tally(rounds)))
        how = self._how
        every = postings.frequencies(self._spark, self._counts(rounds), how.rarest, how.commonest * documents)
        table = postings.vocabulary(every, documents, how.vocabulary)
        if not len(table):
            raise NothingToIndex(f"no term is in {how.rarest} documents or more, and in few enough of them")
        pq.write_table(table, path.with_suffix(".new"))
        path.with_suffix(".new").replace(path)
        return table

    def _postings(self, rounds: list[Round], words: pa.Table) -> list[Path]:
        marker = self._out / "postings.json"
        made = _read(marker, Round)
        if made is None:
            self._told(Progress("postings", 0, 1, _tally(rounds)))
            shutil.rmtree(self._out / "postings", ignore_errors=True)
            (self._out / "postings").mkdir()
            total = int(np.sum(words["df"].to_numpy()))
            pruning = postings.Pruning(self._how.most, self._how.least)
            known = self._out / "vocabulary.parquet"
            files = postings.postings(self._spark, self._counts(rounds), known, total, pruning, self._out / "postings")
            made = Round(len(self._pieces), files, dict(_tally(rounds)))
            _write(marker, made)
        return [self._out / "postings" / file for file in made.files]


_Kind = TypeVar("_Kind", About, Round)


def _tally(rounds: list[Round]) -> Counter[str]:
    result: Counter[str] = Counter()
    for each in rounds:
        result.update(each.tally)
    return result


def _write(path: Path, value: msgspec.Struct) -> None:
    write_whole(path, sealed(msgspec.json.encode(value)))


def _read(path: Path, kind: type[_Kind]) -> _Kind | None:
    """The content of a manifest; None if it is missing or incomplete, so that its step is repeated."""
    try:
        text = path.read_bytes()
        return msgspec.json.decode(text, type=kind) if is_sealed(text.removesuffix(b"\n")) else None
    except (FileNotFoundError, msgspec.DecodeError):
        return None
