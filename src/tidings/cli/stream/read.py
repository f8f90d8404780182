"""`tidings stream read`: prints notifications as JSON lines."""

import sys
import threading
from argparse import Namespace
from typing import TYPE_CHECKING

import orjson

from tidings.cli.history.lakes import say
from tidings.cli.input.arguments import UsageError
from tidings.cli.input.stopping import stopping
from tidings.cli.output.telling import in_order
from tidings.model.formats.results.json import bindings_json

if TYPE_CHECKING:
    from pathlib import Path

    from tidings.spark.streaming.unit import Notification

_POLL = 0.5
"""Seconds between two looks for new batches."""


def read(arguments: Namespace) -> None:
    if not arguments.follow and not (arguments.out / "batches").is_dir():
        raise UsageError(f"{arguments.out} has nothing that was told")
    only = set(arguments.spuid)
    after = -1 if arguments.after is None else arguments.after
    stop = threading.Event()
    if not arguments.follow:
        _write(arguments.out, after, only)
        return
    if not (arguments.out / "batches").is_dir():
        say(arguments, f"nothing was told to {arguments.out} yet; waiting for a job with --out {arguments.out}")
    with stopping(stop):
        while not stop.is_set():
            after = _write(arguments.out, after, only)
            stop.wait(_POLL)


def _write(out: "Path", after: int, only: set[str]) -> int:
    """Print the batches after the batch `after`; the number of the last one."""
    from tidings.spark.streaming.output.notifications import manifests, read_notifications

    for manifest in manifests(out, after):
        after = manifest.number
        lines = (line(told) for told in read_notifications(out, manifest) if not only or told.spuid in only)
        sys.stdout.buffer.writelines(lines)
        sys.stdout.buffer.flush()
    return after


def line(told: "Notification") -> bytes:
    head = {"spuid": told.spuid, "sequence": told.sequence, "commit": told.commit, "time": told.time}
    if told.reason is not None:
        head["reason"] = told.reason
    added, removed = (bindings_json(told.variables, in_order(rows)) for rows in (told.added, told.removed))
    return orjson.dumps(head)[:-1] + f',"added":[{added}],"removed":[{removed}]}}\n'.encode()
