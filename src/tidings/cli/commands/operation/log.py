"""`tidings log`: prints the commits of a broker from a given one on, and follows new ones.

The command prints only whole commits, so that it can connect again and go on behind the last one.
"""

import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator

import orjson

from tidings.cli.input.arguments import Parser, add_broker, count
from tidings.cli.input.identity import calling
from tidings.client.errors import CannotConnect, ConnectionLost, NotUnderstood
from tidings.model.formats.streams import whole_lines

DESCRIPTION = """\
Print what each commit of the broker added and removed: as JSON lines, one for each quad, or as RDF Patch. With
--follow it goes on with every commit that is to come, also over a restart of the broker, until Ctrl+C."""
EXAMPLES = """\
examples:
  tidings log --from 1 --limit 10
  tidings log --format patch > city.rdfp
  tidings log --from 1 --follow --limit 1
"""
_PAUSE = 0.5
_MOST = 1 << 62
_PATCH_ID = b"H id <urn:tidings:commit:"


def parser() -> Parser:
    result = Parser("tidings log", DESCRIPTION, EXAMPLES)
    add_broker(result)
    result.add_argument("--from", dest="first", metavar="N", type=count, default=1, help="the first commit (1)")
    result.add_argument("--limit", metavar="N", type=count, help="how many commits at most (all there are)")
    result.add_argument("--follow", action="store_true", help="go on with those to come")
    result.add_argument("--format", metavar="NAME", choices=("json", "patch"), default="json", help="json, or patch")
    return result


def run(arguments: Namespace) -> int:
    first, last = arguments.first, arguments.first + (arguments.limit or _MOST) - 1
    ends = _json_end if arguments.format == "json" else _PatchEnd()
    heard = False
    while first <= last:
        try:
            for sequence, lines in _commits(arguments, first, last, ends):
                heard = True
                sys.stdout.buffer.write(lines)
                sys.stdout.buffer.flush()
                first = sequence + 1
        except (ConnectionLost, CannotConnect):
            if not heard or not arguments.follow:
                raise
        if not arguments.follow:
            break
        if first <= last:
            time.sleep(_PAUSE)
    return 0


def _commits(
    arguments: Namespace, first: int, last: int, ends: Callable[[bytes], int | None]
) -> Iterator[tuple[int, bytes]]:
    """Each complete commit, with its number and its lines. The first item has no lines: the broker has answered."""
    given = {"from": f"{first}", "limit": f"{last - first + 1}", "format": arguments.format}
    if arguments.follow:
        given["follow"] = "true"
    with (
        calling(arguments, endless=arguments.follow) as calls,
        calls.streamed("/log", params=given, accept="*/*") as chunks,
    ):
        yield first - 1, b""  # the broker has answered
        held: list[bytes] = []
        for lines in whole_lines(chunks):
            for line in lines.splitlines(keepends=True):
                if line in (b"\n", b"#\n"):
                    continue  # a keep-alive
                held.append(line)
                sequence = ends(line)
                if sequence is not None:
                    yield sequence, b"".join(held)
                    held.clear()


def _json_end(line: bytes) -> int | None:
    """The number of the commit, if this is its last line."""
    try:
        change = orjson.loads(line)
        return None if change["left"] else int(change["seq"])
    except (ValueError, KeyError, TypeError) as error:
        raise NotUnderstood(f"not a line of the log: {line[:100].decode(errors='replace')}") from error


class _PatchEnd:
    """The same for RDF Patch, whose commits begin with their number and end with `TC .`."""

    def __init__(self) -> None:
        self._sequence = 0

    def __call__(self, line: bytes) -> int | None:
        if line.startswith(_PATCH_ID):
            self._sequence = int(line[len(_PATCH_ID) :].partition(b">")[0])
        return self._sequence if line == b"TC .\n" else None
