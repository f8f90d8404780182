"""What is wrong is told in one line, with a caret where there is a place to show."""

import gzip
from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from cli.calls import Captured
from tidings.cli import COMMANDS, command, main
from tidings.cli.output.complaint import complain
from tidings.client.errors import Refused
from tidings.model.errors import EndpointRefused, TidingsError
from tidings.protocol.errors import UNNAMED, Refusal

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture(autouse=True)
def misspelt(folder: Path) -> None:
    (folder / "misspelt.toml").write_text("http_prot = 8080\n")


def complaint(capsys: Captured, *arguments: str) -> tuple[int, list[str]]:
    code = main(arguments)
    out, err = capsys.readouterr()
    assert out == ""
    return code, err.splitlines()


def test_a_wrong_query_is_shown_with_a_caret_before_any_file_is_read(capsys: Captured) -> None:
    code, said = complaint(capsys, "query", "-d", "data.ttl", "SELECT *\nWHERE { ?s ?p }")
    assert code == 1
    assert said[0].startswith("tidings: error: line 2, column 15: ")
    assert said[1:] == ["  WHERE { ?s ?p }", "                ^"]


def test_a_wrong_document_is_shown_with_a_caret(capsys: Captured, folder: Path) -> None:
    (folder / "bad.ttl").write_text("# fine\n<a> <b> .\n")
    code, said = complaint(capsys, "query", "-d", "bad.ttl", "ASK {}")
    assert code == 1
    assert said[0].startswith("tidings: error: bad.ttl: line 2, column 9: ")
    assert said[1:] == ["  <a> <b> .", "          ^"]


def test_of_a_long_line_only_the_place_is_shown_and_nothing_moves_the_cursor(capsys: Captured, folder: Path) -> None:
    (folder / "bad.nt").write_text(f'<http://a> <http://b> "{"x" * 900}\x1b[2J" <c> <d> .\n')
    _, said = complaint(capsys, "convert", "bad.nt", "--to", "turtle")
    assert all(len(line) < 120 for line in said[1:])
    assert said[1].startswith("  …x")
    assert "\x1b" not in "".join(said)
    assert said[1][said[2].index("^")] in "<>cd "


@pytest.mark.parametrize("name", COMMANDS)
def test_what_an_option_cannot_have_is_told_in_words(name: str) -> None:
    for action in command(name).parser()._actions:
        if callable(action.type) and action.type is not Path:
            with pytest.raises((ArgumentTypeError, TidingsError), match=r"no number"):
                action.type("no number")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ([], "say what to do"),
        (["qurey"], "there is no command 'qurey'; did you mean query? (see tidings --help)"),
        (["zzz"], "there is no command 'zzz', only query, update, "),
        (["--verison"], "did you mean --version? (see tidings --help)"),
        (["query"], "give one query"),
        (["query", "ASK {}", "--file", "x"], "give one query"),
        (["query", "--file", "nope.rq"], "nope.rq: No such file"),
        (["query", "--bogus", "ASK {}"], "unrecognized arguments: --bogus (see tidings query --help)"),
        (["query", "--fromat", "json", "ASK {}"], "; did you mean --format? (see tidings query --help)"),
        (["serve", "--http-prot=1", "--memroy"], "; did you mean --http-port, --memory? (see"),
        (["history", "ingets", "--lake", "x"], "; did you mean ingest? (see tidings history --help)"),
        (["log", "--format", "jsno"], "; did you mean json? (see tidings log --help)"),
        (["query", "--timeout", "-1", "ASK {}"], "argument --timeout"),
        (["query", "--max-rows", "0", "ASK {}"], "argument --max-rows"),
        (["query", "--format", "turtle", "ASK {}"], "can be written as table, json, xml, csv, tsv, not as turtle"),
        (["query", "--format", "table", "CONSTRUCT WHERE { ?s ?p ?o }"], "not as table"),
        (["query", "--output", "x.pdf", "ASK {}"], "not as x.pdf"),
        (["query", "--data", "-", "ASK {}"], "give --data-format"),
        (["query", "--graph-data", "data.ttl", "ASK {}"], "IRI=FILE"),
        (["query", "--graph-data", "x=data.ttl", "ASK {}"], "'x' is not an absolute IRI"),
        (["query", "--base", "x", "ASK {}"], "'x' is not an absolute IRI"),
        (["update", "--empty", "--in-place", "CLEAR ALL"], "--in-place goes with exactly one"),
        (["update", "--empty", "--output", "-", "--delta", "CLEAR ALL"], "both write to stdout"),
        (["convert", "-", "x.nt"], "give --from"),
        (["convert", "data.ttl"], "give --to"),
        (["convert", "data.ttl", "x.nt", "--prefix", "x"], "NAME=IRI"),
        (["city", "--factor", "0"], "argument --factor"),
        (["serve", "--http-port", "http"], "--http-port: 'http' is not"),
        (["serve", "--memory", "--data", "folder"], "--memory and --data contradict each other"),
        (["serve", "--config", "nope.toml"], "nope.toml: No such file"),
        (["serve", "--config", "misspelt.toml"], "misspelt.toml: unknown settings http_prot; did you mean http_port?"),
    ],
)
def test_a_call_that_makes_no_sense_ends_with_2_and_one_line(capsys: Captured, arguments: list[str], part: str) -> None:
    code, said = complaint(capsys, *arguments)
    assert code == 2
    assert len(said) == 1
    assert said[0].startswith("tidings: error: ")
    assert part in said[0]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["query", "-d", "nope.ttl", "ASK {}"], "nope.ttl: No such file"),
        (["query", "-d", "data.pdf", "ASK {}"], "data.pdf"),
        (["convert", "data.ttl", "nope/x.nt"], "nope/x.nt: No such file"),
        (["convert", "data.ttl", "--to", "pdf"], "'pdf'"),
        (["update", "--empty", "LOAD <data.ttl>"], "LOAD is switched off"),
        (["update", "--allow-load", "LOAD <nope.ttl>"], "nope.ttl: No such file"),
        (["update", "--allow-load", "LOAD <file:///etc/hosts>"], "LOAD may not leave its folder"),
    ],
)
def test_a_failure_ends_with_1_and_one_line(capsys: Captured, arguments: list[str], part: str) -> None:
    code, said = complaint(capsys, *arguments)
    assert code == 1
    assert len(said) == 1
    assert part in said[0]


def test_a_damaged_gzip_file_is_a_clear_failure(capsys: Captured, folder: Path) -> None:
    (folder / "data.nt.gz").write_bytes(gzip.compress(b"<http://a> <http://b> <http://c> .\n" * 999)[:60])
    code, said = complaint(capsys, "query", "-d", "data.nt.gz", "ASK {}")
    assert code == 1
    assert "data.nt.gz is not a whole gzip file" in said[0]


def test_who_is_not_known_is_told_to_log_in_and_not_when_the_endpoint_does_not_know_the_broker(
    capsys: Captured,
) -> None:
    stranger = Refused(Refusal(UNNAMED, 401, "who are you?"))
    assert complain(stranger) == 1
    assert "tidings login" in capsys.readouterr().err
    refused = EndpointRefused("the endpoint asks who the broker is")
    refused.__cause__ = stranger
    assert complain(refused) == 1
    assert "tidings login" not in capsys.readouterr().err
