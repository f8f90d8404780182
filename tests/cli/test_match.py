"""`tidings match`: words typed on the command line, events of files."""

import json
from pathlib import Path

import pytest

from tidings.cli import main
from tidings.lexicons.backends import Backend

EVENTS = [
    {"type": "parking space occupied", "town": "Galway", "parking vacancy": 0},
    {"type": "car park", "municipality": "Galway", "parking vacancy": 3},
    {"type": "traffic jam", "city": "Galway", "room number": 210},
]
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def parking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [json.dumps(each) for each in EVENTS]
    Path("parking.jsonl").write_text("\n".join([*lines, "", "{parking vacancy = 1, city = Dublin}"]))


def match(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    code = main(["match", "--backend", "vectors", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_events_that_match_are_told_with_their_degree(capsys: Captured) -> None:
    code, out, _ = match(capsys, "{empty parking slot~ > 0, city~ = galway~}", "parking.jsonl")
    assert code == 0
    (line,) = out.splitlines()
    assert line.endswith("{type = car park, municipality = Galway, parking vacancy = 3}")
    assert 0.5 < float(line.split()[0]) < 1


def test_the_best_come_first(capsys: Captured) -> None:
    _, out, _ = match(capsys, "{city~ = galway~}", "parking.jsonl", "--top", "2", "--format", "json")
    first, second = map(json.loads, out.splitlines())
    assert (first["degree"], first["place"]) == (1.0, "parking.jsonl:3")
    assert second["degree"] < 1
    assert first["mappings"][0]["met"] == [{"predicate": "city~ = galway~", "tuple": "city = Galway", "score": 1.0}]


def test_an_explanation_says_why_and_why_not(capsys: Captured) -> None:
    arguments = ("{empty parking slot~ > 0}", "parking.jsonl", "--all", "--explain")
    code, out, _ = match(capsys, *arguments)
    assert code == 0
    assert "empty parking slot~ > 0  <-  parking vacancy = 3" in out
    assert "not parking vacancy = 0: the value differs" in out
    _, out, _ = match(capsys, *arguments, "--format", "json")
    assert json.loads(out.splitlines()[0])["explanation"]["matches"] is False


def test_every_backend_but_that_of_an_index_is_there_by_its_name(capsys: Captured, tmp_path: Path) -> None:
    (tmp_path / "shops.jsonl").write_text('{"shop": "bread shop"}\n{"shop": "bakery"}\n')
    for backend in (each for each in Backend if each is not Backend.ESA):
        code, out, _ = match(capsys, "{shop = bakery~}", "shops.jsonl", "--backend", backend.value)
        assert (code, len(out.splitlines())) == (0, 2 if backend is Backend.MINILM else 1)


def test_no_match_is_exit_code_1(capsys: Captured) -> None:
    assert match(capsys, "{colour = red}", "parking.jsonl") == (1, "", "")


def test_subscriptions_come_as_json_and_from_files(capsys: Captured) -> None:
    Path("wanted.json").write_text('{"predicates": [{"attribute": "city", "value": "dublin"}]}')
    assert match(capsys, "@wanted.json", "parking.jsonl")[1] == "1.000  {parking vacancy = 1, city = Dublin}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{a = }", "parking.jsonl"], "line 1, column 6: a value is missing"),
        (["{a = b}", "nothing.jsonl"], "nothing.jsonl: No such file"),
        (["{a = b}", "bad.jsonl"], "bad.jsonl:2: at /a: a value is"),
        (["{a = b}", "worse.jsonl"], "worse.jsonl:1: neither JSON"),
        (["{a = b}", "--threshold", "2"], "'2' is not a number from 0 to 1"),
        (["@nothing", "parking.jsonl"], "nothing cannot be read"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(capsys: Captured, arguments: list[str], said: str) -> None:
    Path("bad.jsonl").write_text('{"a": 1}\n{"a": {"b": 1}}\n')
    Path("worse.jsonl").write_text('{"a": 1\n')
    code, _, err = match(capsys, *arguments)
    assert code != 0
    assert said in err


def test_a_byte_order_mark_is_no_part_of_the_first_event(capsys: Captured) -> None:
    Path("marked.jsonl").write_text('{"town": "Galway"}\n{"town": "Cork"}\n', encoding="utf-8-sig")
    code, out, _ = match(capsys, "{town = galway}", "marked.jsonl")
    assert (code, out.splitlines()) == (0, ["1.000  {town = Galway}"])
