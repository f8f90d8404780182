"""`tidings history as-of` and `info`: the graph after an earlier commit, and the content of the lake."""

from argparse import Namespace
from pathlib import Path

from rich.console import Console

from tidings.cli.history.lakes import graphs_of, mark_of, session_for
from tidings.cli.input.arguments import Parser, UsageError
from tidings.cli.output.writing import write
from tidings.protocol.instants import shown


def arguments(parser: Parser) -> None:
    parser.add_argument("--data", "-d", metavar="DIR", type=Path, help="as-of: make a data folder for a broker instead")


def as_of(arguments: Namespace) -> None:
    from tidings.spark.lake.lake import Lake
    from tidings.spark.lake.travel import broker_folder, nquads, plan

    readable = graphs_of(arguments)
    lake = Lake(arguments.lake)
    mark = mark_of(lake, arguments.at)
    plan(lake, mark.commit)  # report a missing commit before Spark starts
    with session_for(arguments) as spark:
        if arguments.data is not None:
            broker_folder(spark, lake, mark, arguments.data, readable)
        else:
            write(nquads(spark, lake, mark.commit, readable), arguments.output)
    if not arguments.quiet:
        when = f", of {shown(mark.time)}" if mark.time else ""
        Console(stderr=True, highlight=False).print(f"as of commit {mark.commit:,}{when}", markup=False)


def info(arguments: Namespace) -> None:
    from tidings.spark.lake.lake import Lake

    if arguments.graphs is not None:
        raise UsageError("info is about the whole lake: --graphs does not go with it")
    lake = Lake(arguments.lake)
    batches, snapshots = lake.batches(), lake.snapshots()
    files = lake.files()
    lake.paths(files)
    print(f"lake       {lake.about.id}")
    if not lake.graphs.everything:
        print(f"graphs     {', '.join(lake.about.graphs)}; a commit that changed none of them counts as one change")
    if batches:
        print(f"commits    1 to {batches[-1].last:,}")
        print(f"time       {shown(batches[0].since)} to {shown(batches[-1].until)}")
    print(f"changes    {sum(batch.rows for batch in batches):,} in {len(batches):,} batches")
    print(f"snapshots  {', '.join(f'{each.commit:,} ({each.quads:,} quads)' for each in snapshots) or 'none yet'}")
    print(f"files      {len(files):,}, {sum(file.bytes for file in files):,} bytes")
