"""`tidings status`: prints the state of a broker on one page."""

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import orjson

from tidings.cli.input.addresses import http_of
from tidings.cli.input.arguments import Parser, add_broker
from tidings.cli.input.identity import calling
from tidings.cli.output.amounts import duration, size
from tidings.cli.output.writing import write
from tidings.client.errors import NotUnderstood

DESCRIPTION = """\
Say how the broker is: what it holds, who has subscribed, what waits, where the time goes. The exit code is 0 if
updates are welcome, and 1 if they are not or nobody answers."""
EXAMPLES = """\
examples:
  tidings status
  tidings status --http http://localhost:8000 --json | head -c 100
"""


def parser() -> Parser:
    result = Parser("tidings status", DESCRIPTION, EXAMPLES)
    add_broker(result)
    result.add_argument("--json", action="store_true", help="print it as one JSON document")
    return result


def run(arguments: Namespace) -> int:
    with calling(arguments) as calls:
        write(_shown(calls.json("/status"), arguments), None)
        calls.json("/healthz")  # raises, with the reason, if the broker does not accept updates
    return 0


def _shown(status: dict[str, Any], arguments: Namespace) -> list[bytes]:
    if arguments.json:
        return [orjson.dumps(status, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)]
    try:
        return [f"{line}\n".encode() for line in page(status, http_of(arguments))]
    except (KeyError, TypeError) as error:
        raise NotUnderstood(f"the broker is of another version: its status lacks {error}") from error


def page(status: dict[str, Any], url: str) -> Iterator[str]:
    """The lines of the page; only the first ones if the broker shows the rest to administrators only."""
    yield f"Tidings {status['version']} at {url}, up for {duration(status['uptime'])}"
    yield ""
    yield _line("data", f"{_many(status['quads'], 'quad')}, {_many(status['graphs'], 'named graph')}")
    yield _line("last commit", f"{status['sequence']:,}")
    if "readable" in status:
        yield _line("you may read", ", ".join(status["readable"]) or "no graph")
    if "queue" in status or "readable" not in status:
        yield from _figures(status)


def _figures(status: dict[str, Any]) -> Iterator[str]:
    held, queue, delayed = status["subscriptions"], status["queue"], status["delayed"]
    timing, indicators, log = status["timing"], status["kpi"], status["log"]
    yield _line("log", _log(log))
    if status.get("endpoint") is not None:
        yield _line("endpoint", _endpoint(status["endpoint"]))
    yield _line("memory", f"{size(status['memory'].get('resident', 0))}, {size(status['memory']['peak'])} at most")
    yield ""
    yield _line("subscriptions", f"{held['live']:,} live, {held['absent']:,} whose clients are away")
    yield _line("notifications", f"{held['notified']:,} sent, {held['merged']:,} merged for slow clients")
    yield _line("sessions", f"{status['sessions']:,}")
    yield ""
    yield _line("updates", f"{queue['done']:,} done, {queue['failed']:,} failed, {queue['waiting']:,} waiting")
    yield _line("delayed", f"{delayed['waiting']:,} waiting, {delayed['done']:,} done, {delayed['failed']:,} failed")
    yield _line("queries", f"{status['queries']['done']:,} done, {status['queries']['aside']:,} of them in forks")
    yield ""
    for name in ("T_UPDATE", "T_LUTT", "T_BOOSTER", "T_NOTIFY"):
        yield _line(name, _per_request(timing[name], timing["requests"]))
    yield _line("LHR", f"{indicators['LHR']:.1f} %")
    yield _line("Ups, Sps, Tps", ", ".join(f"{indicators[name]:,.0f}" for name in ("Ups", "Sps", "Tps")))


def _line(name: str, value: str) -> str:
    return f"  {name:15}{value}"


def _log(log: dict[str, Any] | None) -> str:
    if log is None:
        return "none: everything is in memory only"
    failed = f", {_many(log['failures'], 'write')} failed" if log["failures"] else ""
    broken = "; BROKEN" if log["broken"] else ""
    return f"{size(log['bytes'])} written, {log['durability']}, snapshot of commit {log['snapshot']:,}{failed}{broken}"


def _endpoint(endpoint: dict[str, Any]) -> str:
    if endpoint["state"] == "ok":
        return f"agrees; {endpoint['commits']:,} commits in {endpoint['requests']:,} requests"
    return f"{endpoint['state']} for {duration(endpoint['age'])}: {endpoint['reason']}"


def _per_request(seconds: float, requests: int) -> str:
    each = f", {seconds / requests * 1e6:,.0f} µs a request" if requests else ""
    return f"{seconds:,.3f} s{each}"


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
