"""A live answer on the command line: as a table, as lines, as JSON; over restarts, and until somebody says stop."""

import json
import os
import pty
import re
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from subprocess import PIPE
from typing import IO

import pytest
from rich.console import Console

from forking.process import Forked
from gates.wire import Broker, own_ports, serving
from tidings.cli.output.live import SHOWN_FOR, LiveTable
from tidings.cli.output.names import Names
from tidings.model.results import Row
from waiting import PATIENCE

P = "PREFIX : <http://example.org/> "
QUERY = f"{P}SELECT ?lamp ?power WHERE {{ ?lamp :power ?power }}"


@contextmanager
def subscribed(*arguments: str) -> Iterator[Forked]:
    with Forked("subscribe", *arguments, stdout=PIPE, stderr=PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def lines(file: IO[str] | None, number: int) -> list[str]:
    assert file is not None
    return [file.readline().rstrip("\n") for _ in range(number)]


@pytest.mark.server
def test_changes_are_lines_in_a_pipe_and_an_interrupt_ends_them_well(broker: Broker) -> None:
    broker.update(f"{P}INSERT DATA {{ :a :power 1 }}")
    with subscribed(QUERY) as process:
        head, row = lines(process.stdout, 2)
        assert head.startswith("sequence 0, commit ")
        assert (head.rpartition(": ")[2], row) == ("+1 -0", "+ ?lamp :a  ?power 1")
        broker.update(f"{P}DELETE DATA {{ :a :power 1 }} ; INSERT DATA {{ :a :power 2 . :b :power 3 }}")
        assert lines(process.stdout, 4)[1:] == ["- ?lamp :a  ?power 1", "+ ?lamp :a  ?power 2", "+ ?lamp :b  ?power 3"]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.server
def test_programs_get_a_line_of_json_for_each_change_and_as_many_as_they_want(broker: Broker) -> None:
    with subscribed("--json", "--count", "2", QUERY) as process:
        first = json.loads(lines(process.stdout, 1)[0])
        assert (first["sequence"], first["added"], first["removed"]) == (0, [], [])
        done = broker.update(f"{P}INSERT DATA {{ :a :power 1 }}")
        second = json.loads(lines(process.stdout, 1)[0])
        assert (second["sequence"], second["commit"], second["time"]) == (1, done["sequence"], done["time"])
        assert second["added"][0]["lamp"] == {"type": "uri", "value": "http://example.org/a"}
        assert process.wait(PATIENCE) == 0


@pytest.mark.server
def test_it_ends_after_some_time(broker: Broker) -> None:
    with subscribed("--for", "0.1", QUERY) as process:
        assert process.wait(PATIENCE) == 0


@pytest.mark.server
def test_it_goes_on_over_a_restart_and_says_so(tmp_path: Path) -> None:
    ports = own_ports()
    with serving(tmp_path, *ports) as first:
        first.update(f"{P}INSERT DATA {{ :a :power 1 }}")
        with subscribed("--json", "--ws", first.ws, QUERY) as process:
            lines(process.stdout, 1)
            first.stop(signal.SIGKILL)
            assert lines(process.stderr, 1) == ["tidings: connection lost, trying again"]
            with serving(tmp_path, *ports, program=("-m", "tidings", "serve")) as second:
                second.update(f"{P}INSERT DATA {{ :b :power 2 }}")
                change = json.loads(lines(process.stdout, 1)[0])
                assert change["sequence"] == 1
                assert [row["power"]["value"] for row in change["added"]] == ["2"]
                assert lines(process.stderr, 1) == ["tidings: connected again"]
                process.send_signal(signal.SIGTERM)
                assert process.wait(PATIENCE) == 0


@pytest.mark.server
def test_a_terminal_gets_a_live_table(broker: Broker) -> None:
    broker.update(f"{P}INSERT DATA {{ :a :power 1 }}")
    leader, follower = pty.openpty()
    environment = os.environ | {"COLUMNS": "80", "LINES": "20", "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    with Forked("subscribe", "--count", "2", QUERY, stdout=follower, stderr=follower, env=environment) as process:
        os.close(follower)
        seen = until(leader, "sequence 0")
        broker.update(f"{P}DELETE DATA {{ :a :power 1 }} ; INSERT DATA {{ :b :power 2 }}")
        seen += until(leader, "latency ")
        assert process.wait(PATIENCE) == 0
    os.close(leader)
    assert "\x1b[1m?lamp" in seen
    assert "1 row · sequence 0" in seen
    assert "1 row · +1 -1 · sequence 1" in seen


def until(leader: int, text: str) -> str:
    seen = ""
    while text not in seen:
        seen += os.read(leader, 65536).decode(errors="replace")
    return seen


# -- the table --------------------------------------------------------------------------------------------------


def number(value: int) -> str:
    return f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>'


def row(name: str, value: int) -> Row:
    return (f"<http://example.org/{name}>", number(value))


def drawn(table: LiveTable, height: int = 24, *, styled: bool = False) -> str:
    console = Console(width=80, record=True, force_terminal=True, file=StringIO(), color_system="standard")
    console.print(table.view(height, 80))
    return "\n".join(line.rstrip() for line in console.export_text(styles=styled).splitlines())


def table_of(*rows: Row) -> LiveTable:
    table = LiveTable(Names({"": "http://example.org/"}))
    table.take(("lamp", "power"), Counter(rows), sequence=0, commit=7, latency=9.0, now=0.0)
    return table


def test_what_came_and_what_went_is_seen_and_then_gone() -> None:
    table = table_of(row("a", 5), row("b", 100))
    assert drawn(table) == (
        "?lamp  ?power\n"
        ":a          5\n"
        ":b        100\n"
        "live · 2 rows · sequence 0 · commit 7"
    )  # fmt: skip
    change = Counter({row("a", 5): -1, row("c", 6): 1})
    table.take(("lamp", "power"), change, sequence=1, commit=8, latency=0.0021, now=10.0)
    assert drawn(table) == (
        "?lamp  ?power\n"
        ":a          5\n"
        ":b        100\n"
        ":c          6\n"
        "live · 2 rows · +1 -1 · sequence 1 · commit 8 · latency 2.1 ms"
    )  # fmt: skip
    styled = drawn(table, styled=True)
    assert "\x1b[9;31m:a" in styled
    assert "\x1b[32m:c" in styled
    assert not table.expire(10.0 + SHOWN_FOR / 2)
    assert table.expire(10.0 + SHOWN_FOR)
    assert drawn(table).splitlines()[1:-1] == [":b        100", ":c          6"]
    assert "\x1b[32m" not in drawn(table, styled=True)


def test_of_a_long_answer_the_last_changes_are_seen_first() -> None:
    table = table_of(*(row(f"l{n:03}", n) for n in range(100)))
    table.take(("lamp", "power"), Counter({row("new", 1): 1}), sequence=1, commit=8, latency=0.0, now=1.0)
    shown = drawn(table, height=9).splitlines()
    assert shown[1:6] == [":new        1", ":l000       0", ":l001       1", ":l002       2", "… and 97 more"]


def test_an_iri_that_is_too_wide_keeps_its_name() -> None:
    lamp = f"<http://example.org/{'far/' * 20}away#LAMP_1>"
    lines = drawn(table_of((lamp, number(5)))).splitlines()
    assert re.fullmatch(r"<http://example\.org/far/[^…]+…[^…]*/away#LAMP_1>       5", lines[1])
    assert max(map(len, lines)) == 80


def test_rows_that_occur_several_times_and_trouble_are_told() -> None:
    table = table_of(row("a", 5), row("a", 5))
    assert table.hear("connection lost, trying again")
    assert not table.hear("connection lost, trying again")
    assert drawn(table).splitlines()[1:] == [
        ":a      5  ×2",
        "connection lost, trying again · 2 rows · sequence 0 · commit 7",
    ]
    assert table.hear("")
    assert table.status().startswith("live, connected again once · ")


def test_nothing_in_the_data_can_command_the_terminal() -> None:
    table = table_of(('"\\u001B[2J[bold red]x"', None))
    assert "\\x1b[2J[bold red]x" in drawn(table)
