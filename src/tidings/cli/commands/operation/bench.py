"""`tidings bench`: measures the performance of one or several brokers of this kind."""

import asyncio
import sys
from argparse import Namespace
from pathlib import Path

from tidings.bench.configuration import Benchmark, read, shipped
from tidings.bench.report.page import check_formats, write_charts, write_report
from tidings.bench.report.summary import summary
from tidings.bench.report.terminal import Terminal
from tidings.bench.results import comparison as comparing
from tidings.bench.results.csv import write_csv
from tidings.bench.results.json import read_run, write_run
from tidings.bench.results.measured import Run
from tidings.bench.running import run as measure
from tidings.cli.input.arguments import Parser, UsageError
from tidings.server.files import FileTrouble

DESCRIPTION = """\
Measure brokers and stores: updates, queries, time to notification, loss, stress, the smart-lighting city of the SPS
paper and the chat of the SEPA paper; one target or several in one run. Answers are checked before a time is printed.

  run NAME|FILE…     run a benchmark: one that comes with the suite, or one of your own, or several files laid over
                     each other; writes CSV, JSON, charts and a report
  list               the benchmarks that come with the suite
  init FILE          write a commented example to start from
  report RUN.json    write charts and report of a run again
  compare A.json B.json   what has changed beyond noise
  matching           how good and how fast approximate matching is; --set changes seeds, events, backends and others"""
EXAMPLES = """\
examples:
  tidings bench list
  tidings bench run lighting --set tests.lighting.factor=0.01 --set iterations=1
  tidings bench run chat --only tidings --output results
  tidings bench init mine.toml
  tidings bench matching --set vocabularies=farm --set events=40 --set seeds=5 --set crowd=20 --output matching
"""
ACTIONS = ("run", "list", "init", "report", "compare", "matching")


def parser() -> Parser:
    result = Parser("tidings bench", DESCRIPTION, EXAMPLES)
    result.add_argument(
        "action", metavar="ACTION", choices=ACTIONS, help="run, list, init, report, compare or matching"
    )
    result.add_argument("names", metavar="NAME", nargs="*", help="benchmarks, files or runs, as the action says")
    result.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="change a key; may be repeated")
    result.add_argument("--global", dest="common", metavar="FILE", type=Path, help="settings for every benchmark")
    result.add_argument("--only", metavar="TARGET", action="append", default=[], help="measure this target only")
    result.add_argument("--output", "-o", metavar="FOLDER", help="where results go (default: as the benchmark says)")
    result.add_argument("--quiet", "-q", action="store_true", help="say nothing of progress")
    return result


def run(arguments: Namespace) -> int:
    names: list[str] = arguments.names
    match arguments.action:
        case "run":
            return _run(arguments, names)
        case "list":
            for name in shipped():
                print(f"{name:14} {read([name]).about}")
        case "init":
            _init(_one(names, "the file to write"))
        case "matching":
            _match(arguments)
        case "report":
            path = Path(_one(names, "the JSON of a run"))
            _write(read_run(path), path.parent, ("svg", "png", "html"))
        case _:
            if len(names) != 2:
                raise UsageError("compare takes two runs: tidings bench compare A.json B.json")
            before, after = (read_run(Path(name)) for name in names)
            print(comparing.table(comparing.compare(before, after)))
    return 0


def _match(arguments: Namespace) -> None:
    """Measure approximate matching, and write a report."""
    from tidings.extras import needing

    with needing("approximate matching needs numpy and scipy", "matching"):
        from tidings.bench.matching.experiment import configured, run_experiment
        from tidings.bench.matching.report import summary as summary_of
        from tidings.bench.matching.report import write_outcome

    pairs = [each.partition("=") for each in arguments.set]
    if any(not equals for _, equals, _ in pairs):
        raise UsageError("--set takes KEY=VALUE")
    try:
        configuration = configured({name: value for name, _, value in pairs})
    except ValueError as error:
        raise UsageError(f"--set: {error}") from error
    outcome = run_experiment(configuration, say=_nothing if arguments.quiet else _say)
    print(summary_of(outcome))
    for written in write_outcome(outcome, Path(arguments.output or "matching")):
        print(written)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _nothing(_: str) -> None:
    """Print no progress."""


def _one(names: list[str], what: str) -> str:
    if len(names) != 1:
        raise UsageError(f"exactly one name is needed here: {what}")
    return names[0]


def _run(arguments: Namespace, names: list[str]) -> int:
    if not names:
        raise UsageError(f"say which benchmark to run: {', '.join(shipped())}, or a file")
    benchmark = _chosen(read(names, settings=arguments.set, common=arguments.common), arguments.only)
    check_formats(benchmark.formats)
    folder = Path(arguments.output or benchmark.output)
    path = folder / f"{benchmark.name}.json"
    with Terminal(quiet=arguments.quiet) as terminal:
        try:
            result = asyncio.run(
                measure(benchmark, saved=lambda so_far: write_run(path, so_far), progress=terminal.progress)
            )
        except KeyboardInterrupt:
            print(f"interrupted; what was measured is in {path}", file=sys.stderr)
            return 130
    print(summary(result))
    for written in _write(result, folder, benchmark.formats):
        print(written)
    return 1 if result.troubles or any(each.wrong for each in result.measurements) else 0


def _chosen(benchmark: Benchmark, only: list[str]) -> Benchmark:
    import msgspec

    if unknown := set(only) - set(benchmark.targets):
        raise UsageError(f"there is no target {min(unknown)}, only {', '.join(benchmark.targets)}")
    if not only:
        return benchmark
    return msgspec.structs.replace(benchmark, targets={name: benchmark.targets[name] for name in only})


def _write(run_: Run, folder: Path, formats: tuple[str, ...]) -> list[Path]:
    written = []
    if "json" in formats:
        write_run(folder / f"{run_.name}.json", run_)
        written.append(folder / f"{run_.name}.json")
    if "csv" in formats:
        for test in dict.fromkeys(each.test for each in run_.measurements):
            path = folder / f"{test}.csv"
            write_csv(path, run_.of(test))
            written.append(path)
    if drawn := tuple(each for each in formats if each in {"svg", "png"}):
        written += write_charts(folder, run_, drawn)
    if "html" in formats:
        write_report(folder / f"{run_.name}.html", run_)
        written.append(folder / f"{run_.name}.html")
    return written


def _init(name: str) -> None:
    path = Path(name)
    if path.exists():
        raise FileTrouble(f"{name} is there already")
    try:
        path.write_text(shipped()["example"], "utf-8")
    except OSError as error:
        raise FileTrouble(f"{name}: {error.strerror}") from error
    print(f"{name} is yours to change; tidings bench run {name} runs it")
