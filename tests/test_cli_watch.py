"""Subscriptions on files: `tidings watch` and `tidings explain`."""

import gzip
import json
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tidings.cli import main
from tidings.cli.input.requests import requests
from tidings.cli.output.telling import in_order
from waiting import PATIENCE

DATA = """\
@prefix : <http://example.org/> .
:l1 :power 40 .
:l2 :power 90 ; :in :hall .
"""
UPDATES = """\
PREFIX : <http://example.org/>
DELETE DATA { :l1 :power 40 } ;
INSERT DATA { :l1 :power 85 }
---
PREFIX : <http://example.org/> INSERT DATA { :l1 :power 85 }
---
PREFIX : <http://example.org/> INSERT DATA { :l1 :note "dim"@en }
---
PREFIX : <http://example.org/> DELETE DATA { :l2 :power 90 }
---
"""
STRONG = """PREFIX e: <http://example.org/>
SELECT ?lamp ?room { ?lamp e:power ?p FILTER(?p > 80) OPTIONAL { ?lamp e:in ?room } }"""
COUNT = "SELECT (COUNT(*) AS ?n) { ?lamp <http://example.org/power> ?p }"
ANY = "ASK { ?lamp <http://example.org/note> ?note }"
MADE = """PREFIX e: <http://example.org/>
CONSTRUCT { ?room e:lit true } WHERE { ?lamp e:in ?room ; e:power ?p }"""
WATCH = ["watch", "-q", "-d", "data.ttl", "--updates", "updates.ru"]
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.ttl").write_text(DATA)
    (tmp_path / "updates.ru").write_text(UPDATES)
    return tmp_path


# -- watch ------------------------------------------------------------------------------------------------------


def test_people_read_who_is_told_what(capsys: Captured, folder: Path) -> None:
    assert main([*WATCH, STRONG, COUNT]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "subscription 1: 1 row",
        "+ ?lamp e:l2  ?room e:hall",
        "subscription 2: 1 row",
        "+ ?n 2",
        "commit 1: +1 -1 quads",
        "subscription 1: +1 -0 rows",
        "+ ?lamp e:l1",
        "request 2: changes nothing",
        "commit 3: +1 -0 quads",
        "commit 4: +0 -1 quads",
        "subscription 1: +0 -1 rows",
        "- ?lamp e:l2  ?room e:hall",
        "subscription 2: +1 -1 rows",
        "- ?n 2",
        "+ ?n 1",
    ]
    assert err == ""
    assert (folder / "data.ttl").read_text() == DATA


def test_programs_read_json_lines(capsys: Captured) -> None:
    assert main([*WATCH, "--json", STRONG, ANY]) == 0
    told = list(map(json.loads, capsys.readouterr().out.splitlines()))
    l1, l2, hall = ({"type": "uri", "value": f"http://example.org/{name}"} for name in ("l1", "l2", "hall"))
    truth = {"type": "literal", "datatype": "http://www.w3.org/2001/XMLSchema#boolean"}
    no, yes = {"ask": truth | {"value": "false"}}, {"ask": truth | {"value": "true"}}
    both = {"lamp": l2, "room": hall}
    assert told == [
        {"subscription": 1, "sequence": 0, "commit": 0, "added": [both], "removed": []},
        {"subscription": 2, "sequence": 0, "commit": 0, "added": [no], "removed": []},
        {"subscription": 1, "sequence": 1, "commit": 1, "added": [{"lamp": l1}], "removed": []},
        {"subscription": 2, "sequence": 1, "commit": 3, "added": [yes], "removed": [no]},
        {"subscription": 1, "sequence": 2, "commit": 4, "added": [], "removed": [both]},
    ]


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_the_reference_says_the_same(capsys: Captured, form: list[str]) -> None:
    queries = [STRONG, COUNT, ANY, MADE, "SELECT ?p { ?s ?p ?o }", "DESCRIBE <http://example.org/l1>", STRONG]
    assert main([*WATCH, *form, *queries]) == 0
    incremental = capsys.readouterr().out
    assert main([*WATCH, *form, "--naive", *queries]) == 0
    assert capsys.readouterr().out == incremental


def test_a_failing_request_ends_the_watch_with_its_place_in_the_file(capsys: Captured, folder: Path) -> None:
    wrong = "\n\nINSERT DATA { <a> <p> 3 } ;\nINSERT DATA { <a> <p> }\n"
    (folder / "wrong.ru").write_text(f"INSERT DATA {{ <a> <p> 1 }}\n---{wrong}---\nINSERT DATA {{ <a> <p> 2 }}")
    assert main(["watch", "--updates", "wrong.ru", "SELECT ?o { <a> <p> ?o }"]) == 1
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "subscription 1: 0 rows",
        "commit 1: +1 -0 quads",
        "subscription 1: +1 -0 rows",
        "+ ?o 1",
    ]
    said = err.splitlines()
    assert said[0].startswith("tidings: error: request 2: line 5, column 23: ")
    assert said[1:] == ["  INSERT DATA { <a> <p> }", "                        ^"]


def test_a_request_that_cannot_be_carried_out_is_named(capsys: Captured, folder: Path) -> None:
    (folder / "load.ru").write_text("INSERT DATA { <a> <p> 1 } ; LOAD <data.ttl>")
    assert main(["watch", "--updates", "load.ru", "ASK {}"]) == 1
    assert capsys.readouterr().err.startswith("tidings: error: request 1: LOAD is switched off")
    (folder / "latin.ru").write_bytes(b"INSERT DATA { <a> <p> '\xe9' }")
    assert main(["watch", "--updates", "latin.ru", "ASK {}"]) == 1
    assert "request 1 is not UTF-8" in capsys.readouterr().err


def test_updates_may_be_compressed(capsys: Captured, folder: Path) -> None:
    (folder / "updates.ru.gz").write_bytes(gzip.compress(UPDATES.encode()))
    assert main([*WATCH, STRONG]) == 0
    plain = capsys.readouterr().out
    assert main([*WATCH, "--updates", "updates.ru.gz", STRONG]) == 0
    assert capsys.readouterr().out == plain


def test_a_request_on_stdin_is_applied_when_its_separator_arrives() -> None:
    command = [sys.executable, "-m", "tidings", "watch", "--updates", "-", "SELECT ?o { ?s ?p ?o }"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "subscription 1: 0 rows\n"
        process.stdin.write("INSERT DATA { <a> <p> 1 }\n---\n")
        process.stdin.flush()
        said = [process.stdout.readline() for _ in range(3)]
        assert said == ["commit 1: +1 -0 quads\n", "subscription 1: +1 -0 rows\n", "+ ?o 1\n"]
        process.stdin.write("CLEAR ALL")
        process.stdin.close()
        assert process.stdout.read().endswith("- ?o 1\n")
        assert process.wait(PATIENCE) == 0


def test_timing_goes_to_stderr(capsys: Captured) -> None:
    assert main([*WATCH, "--timing", STRONG, ANY]) == 0
    said = dict(line.split(maxsplit=1) for line in capsys.readouterr().err.splitlines())
    times = ["T_UPDATE", "T_LUTT", "T_BOOSTER", "T_NOTIFY"]
    assert list(said) == [*times, "requests", "commits", "quads", "hits", "LHR", "notifications"]
    assert all(said[name].endswith(" ms") for name in times)
    assert (said["requests"], said["commits"], said["quads"], said["notifications"]) == ("4", "3", "4", "3")
    assert said["LHR"] == f"{100 * int(said['hits']) / 8:.1f} %"


def test_a_terminal_gets_green_and_red() -> None:
    leader, follower = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    subprocess.run(
        [sys.executable, "-m", "tidings", *WATCH, COUNT], stdout=follower, env=environment, check=True, timeout=PATIENCE
    )
    os.close(follower)
    said = os.read(leader, 65536).decode()
    os.close(leader)
    assert "\x1b[31m- ?n 2\x1b[0m" in said
    assert "\x1b[32m+ ?n 1\x1b[0m" in said


@pytest.mark.parametrize(
    ("arguments", "part", "code"),
    [
        (["watch", "ASK {}"], "--updates", 2),
        (["watch", "--updates", "updates.ru"], "QUERY", 2),
        (["watch", "--updates", "-", "--data", "-", "--data-format", "turtle", "ASK {}"], "both the data and the", 2),
        (["watch", "--updates", "nope.ru", "ASK {}"], "nope.ru: No such file", 1),
        (["watch", "--updates", "updates.ru", "ASK {"], "line 1, column 6", 1),
        (["explain"], "give one query", 2),
        (["explain", "ASK {"], "line 1, column 6", 1),
    ],
)
def test_what_is_wrong_is_told(capsys: Captured, arguments: list[str], part: str, code: int) -> None:
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert part in err


def test_only_a_line_of_three_hyphens_separates() -> None:
    found = list(requests([b"a\n", b"# ---\n", b"---\r\n", b"---\n", b" --- \n", b"b"]))
    assert [(each.number, each.text, each.skipped) for each in found] == [
        (1, "a\n# ---\n", 0),
        (2, "", 3),
        (3, " --- \nb", 4),
    ]
    assert [each.text for each in requests([b"a\n", b"---\n", b" \n"])] == ["a\n"]
    assert list(requests([])) == []


def test_rows_are_ordered_by_value_then_by_spelling() -> None:
    integer = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    nine, ten, nine_again = map(integer.format, ("9", "10", "09"))
    assert in_order([(ten,), (nine,), (None,), (nine_again,)]) == [(None,), (nine_again,), (nine,), (ten,)]


def test_the_reference_shows_what_is_really_printed(folder: Path) -> None:
    text = (Path(__file__).parents[1] / "docs/cli.md").read_text()
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    parts = ("> switch.ru", "tidings watch", "subscription 1: ", '{"subscription":1')
    setting, watch, lines, one = (next(code for _, code in blocks if part in code) for part in parts)
    script = f'set -e\ntidings() {{ {shlex.quote(sys.executable)} -m tidings "$@"; }}\n{setting}\n'
    said = [
        subprocess.run(["bash", "-c", script + each], capture_output=True, text=True, check=True).stdout
        for each in (watch, watch.replace("tidings watch", "tidings watch --json"))
    ]
    assert said[0] == lines
    assert one in said[1]


# -- explain ----------------------------------------------------------------------------------------------------


def test_a_plan_is_explained_to_people(capsys: Captured) -> None:
    assert main(["explain", "-q", "-d", "data.ttl", COUNT]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "shared by 1 member(s) with 1 subscriber(s)"
    assert lines[1] == "woken by * <http://example.org/power> *"
    assert any(line.lstrip("└─ ").startswith("group: ") for line in lines[2:])


def test_a_plan_is_explained_to_programs(capsys: Captured, folder: Path) -> None:
    (folder / "count.rq").write_text(COUNT)
    assert main(["explain", "--empty", "--json", "--file", "count.rq"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["incremental"] is True
    assert plan["shared"] == {"members": 1, "subscribers": 1}
    assert plan["routes"][0]["pattern"][1] == "<http://example.org/power>"


def test_a_query_to_explain_comes_from_stdin() -> None:
    command = [sys.executable, "-m", "tidings", "explain", "--empty", "-"]
    done = subprocess.run(command, input="SELECT (NOW() AS ?t) {}", capture_output=True, text=True, check=True)
    assert "[re-evaluates]" in done.stdout
