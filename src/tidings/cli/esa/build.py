"""`tidings esa build`: builds an ESA index from a dump or from WordNet, on Spark."""

import time
from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from tidings.cli.history.lakes import session_for
from tidings.cli.input.arguments import UsageError
from tidings.extras import needing

if TYPE_CHECKING:
    from tidings.lexicons.esa.folder import Manifest
    from tidings.spark.esa.build import Parameters, Progress
    from tidings.spark.esa.sources import Source

WORDNET = "wordnet"


def build(arguments: Namespace) -> None:
    if not arguments.what:
        raise UsageError("say what to index: files of a MediaWiki dump, or wordnet")
    with needing("building an index needs Spark", "spark"):
        import pyarrow  # noqa: F401
        import pyspark  # noqa: F401
    from tidings.spark.esa.build import Build

    source = _source(arguments)  # report unreadable files before Spark starts
    parameters = _parameters(arguments, source)
    with session_for(arguments, "esa") as spark:
        tell = _Progress(quiet=arguments.quiet)
        made = Build(spark, source, arguments.out or Path("esa"), parameters, tell).run()
        tell.done(made)


def _source(arguments: Namespace) -> "Source":
    from tidings.lexicons.wordnet.finding import wordnet_folder
    from tidings.spark.esa.sources import Wiki, WordNet

    if arguments.what == [WORDNET]:
        return WordNet(wordnet_folder(arguments.wordnet))
    if WORDNET in arguments.what or arguments.wordnet is not None:
        raise UsageError("wordnet and --wordnet go alone: an index is of one dump, or of WordNet")
    return Wiki([Path(each) for each in arguments.what])


def _parameters(arguments: Namespace, source: "Source") -> "Parameters":
    from tidings.spark.esa.build import Parameters

    given = {
        "commonest": arguments.commonest,
        "most": arguments.most,
        "least": arguments.least,
        "vocabulary": arguments.terms,
    }
    return Parameters(
        shortest=arguments.shortest or source.shortest,
        rarest=arguments.rarest or source.rarest,
        lenient=arguments.lenient,
        **{name: value for name, value in given.items() if value is not None},
    )


class _Progress:
    """Prints a line for each round and each stage on stderr."""

    def __init__(self, *, quiet: bool) -> None:
        self._console = Console(stderr=True, quiet=quiet, highlight=False, soft_wrap=True)
        self._since = time.monotonic()
        self._tally: Counter[str] = Counter()

    def __call__(self, progress: "Progress") -> None:
        self._tally = progress.tally
        pages = progress.tally["pages"]
        if progress.stage != "reading":
            if not progress.done:
                self._say(f"{progress.stage} …")
            return
        rate = progress.read / max(1e-9, time.monotonic() - self._since)
        self._say(f"reading: {progress.done:,} of {progress.total:,} rounds, {pages:,} pages, {rate:,.0f}/s")

    def done(self, made: "Manifest") -> None:
        for what, number in sorted(self._tally.items(), key=lambda each: -each[1]):
            self._say(f"  {number:,} {what}")
        self._say(f"{made.documents:,} concepts, {made.terms:,} terms, {made.postings:,} postings of {made.source}")

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False)
