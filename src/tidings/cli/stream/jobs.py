"""`tidings stream replay` and `tidings stream rescale`: jobs that end by themselves."""

import sys
import time
from argparse import Namespace

from tidings.cli.history.lakes import session_for
from tidings.cli.input.arguments import UsageError
from tidings.cli.input.identity import lend
from tidings.cli.stream.run import refusal, settings_of
from tidings.model.errors import TidingsError


def replay(arguments: Namespace) -> None:
    if not arguments.log and not arguments.lake:
        raise UsageError("say which history to go through: --log DIR, --log URL of a broker, or --lake DIR")
    from tidings.spark.lake.lake import Lake
    from tidings.spark.streaming import replay as bulk
    from tidings.spark.streaming.output.notifications import manifest_of
    from tidings.spark.streaming.subscriptions.requests import request_source

    lend(arguments, arguments.log, arguments.subscriptions)
    start, settings = time.monotonic(), settings_of(arguments)
    lake = Lake(arguments.lake) if arguments.lake else None
    log = arguments.log or f"lake:{arguments.lake}"
    requests = request_source(arguments.subscriptions).read() or {}
    span = bulk.span(log, arguments.begins or 0, arguments.to)
    bulk.check_fresh(arguments.out)
    with session_for(arguments, "stream", partitions=arguments.partitions) as spark:
        bulk.replay(
            *(spark, log, arguments.out, requests.values(), _refused),
            lake=lake, span=span, together=settings.together, largest=settings.largest,
        )  # fmt: skip
    told = manifest_of(arguments.out, 0)
    if told is not None and not arguments.quiet:
        took = time.monotonic() - start
        _say(
            f"commits {span.after + 1:,} to {span.last:,}: {told.told:,} told by {told.units:,} units in {took:,.1f} s"
        )


def rescale(arguments: Namespace) -> None:
    from tidings.spark.streaming import rescaling

    before = rescaling.check(arguments.checkpoint, arguments.partitions)
    with session_for(arguments, "stream") as spark:
        rescaling.rescale(spark, arguments.checkpoint, arguments.partitions)
    if not arguments.quiet:
        _say(f"{arguments.checkpoint} has {arguments.partitions} partitions now, and had {before}")


def _refused(spuid: str, error: TidingsError) -> None:
    _say(refusal(spuid, error))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
