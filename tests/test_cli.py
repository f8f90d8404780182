"""The command line, as people and scripts use it."""

import gzip
import os
import pty
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyoxigraph as ox
import pytest

from cli.shell import EXAMPLES, furnish, runs_alone, shell
from tidings import __version__
from tidings.cli import COMMANDS, main
from tidings.cli.output.names import Names
from tidings.cli.output.paint import harmless
from tidings.cli.output.table import draw, fit, fold
from tidings.model.results import Solutions
from tidings.model.terms import Quad
from tidings.server import app
from tidings.server.config import Settings
from waiting import PATIENCE

DATA = """\
@prefix : <http://example.org/> .
:a :p 1 , 2 ; :name "Ann" .
:b :p 3 ; :name "Bob"@en .
"""
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.ttl").write_text(DATA)
    return tmp_path


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tidings", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=PATIENCE, check=False)


def in_terminal(*arguments: str, columns: int = 80) -> str:
    """What a command writes to a terminal of this width."""
    leader, follower = pty.openpty()
    environment = os.environ | {"COLUMNS": str(columns), "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(
        [sys.executable, "-m", "tidings", *arguments], stdout=follower, stderr=subprocess.DEVNULL, env=environment
    ):
        os.close(follower)
        said = b"".join(_chunks(leader))
    os.close(leader)
    return said.decode().replace("\r\n", "\n")


def _chunks(leader: int) -> Iterator[bytes]:
    try:
        while chunk := os.read(leader, 65536):
            yield chunk
    except OSError:  # the other end is closed
        return


# -- query ------------------------------------------------------------------------------------------------------


def test_a_pipe_gets_tab_separated_values(capsys: Captured) -> None:
    assert (
        main(
            [
                "query",
                "--data",
                "data.ttl",
                "SELECT ?s ?o { ?s :p ?o } ORDER BY ?o".replace(":p", "<http://example.org/p>"),
            ]
        )
        == 0
    )
    out, err = capsys.readouterr()
    assert out == "?s\t?o\n<http://example.org/a>\t1\n<http://example.org/a>\t2\n<http://example.org/b>\t3\n"
    assert err.startswith("loaded 5 quads from data.ttl in ")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("ASK { ?s ?p 3 }", "true\n"),
        ("ASK { ?s ?p 4 }", "false\n"),
        ("CONSTRUCT WHERE { ?s ?p 'Ann' }", '<http://example.org/a> <http://example.org/name> "Ann" .\n'),
    ],
)
def test_a_pipe_gets_one_word_for_ask_and_ntriples_for_construct(capsys: Captured, query: str, expected: str) -> None:
    assert main(["query", "-q", "-d", "data.ttl", query]) == 0
    assert capsys.readouterr() == (expected, "")


@pytest.mark.parametrize("name", ["table", "json", "xml", "csv", "tsv"])
def test_results_can_be_had_in_every_format(capsys: Captured, name: str) -> None:
    assert main(["query", "-q", "-d", "data.ttl", "--format", name, "SELECT * { ?s ?p 'Ann' }"]) == 0
    assert "example.org/name" in capsys.readouterr().out


@pytest.mark.parametrize("syntax", ["turtle", "trig", "ntriples", "nquads", "rdfxml", "jsonld"])
def test_triples_can_be_had_in_every_format(capsys: Captured, syntax: str) -> None:
    assert main(["query", "-q", "-d", "data.ttl", "--format", syntax, "CONSTRUCT WHERE { ?s ?p ?o }"]) == 0
    extension = {"turtle": "ttl", "ntriples": "nt", "nquads": "nq", "rdfxml": "rdf"}.get(syntax, syntax)
    document = capsys.readouterr().out.encode()
    assert len(list(ox.parse(document, ox.RdfFormat.from_extension(extension)))) == 5


def test_the_output_file_tells_the_format(capsys: Captured, folder: Path) -> None:
    assert main(["query", "-q", "-d", "data.ttl", "-o", "out.csv", "SELECT ?s { ?s ?p 3 }"]) == 0
    assert (folder / "out.csv").read_bytes() == b"s\r\nhttp://example.org/b\r\n"
    assert main(["query", "-q", "-d", "data.ttl", "-o", "out.ttl.gz", "CONSTRUCT WHERE { ?s ?p 3 }"]) == 0
    assert b"example.org/b" in gzip.decompress((folder / "out.ttl.gz").read_bytes())
    assert capsys.readouterr().out == ""


def test_a_query_comes_from_a_file_or_from_stdin(capsys: Captured, folder: Path) -> None:
    (folder / "ask.rq").write_text("ASK { ?s ?p 3 }", "utf-8-sig")
    assert main(["query", "-q", "-d", "data.ttl", "--file", "ask.rq"]) == 0
    assert capsys.readouterr().out == "true\n"
    assert run("query", "-q", "-d", "data.ttl", "-", stdin="ASK { ?s ?p 3 }").stdout == "true\n"


def test_data_comes_from_stdin_and_into_graphs() -> None:
    graph = "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g"
    named = run("query", "-q", "--graph-data", "http://g/?a=b=data.ttl", "--format", "csv", graph)
    assert named.stdout == "g,n\nhttp://g/?a=b,5\n"
    piped = run("query", "-q", "-d", "-", "--data-format", "turtle", "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", stdin=DATA)
    assert piped.stdout == "?n\n5\n"


def test_a_function_that_nobody_knows_is_told_on_stderr(capsys: Captured) -> None:
    query = "SELECT ?s { ?s ?p ?o FILTER(<http://e/f>(?o)) }"
    assert main(["query", "--data", "data.ttl", query]) == 0
    out, err = capsys.readouterr()
    assert out == "?s\n"
    warning = "tidings: warning: the function <http://e/f> is not known: every call of it is an error"
    assert err.splitlines()[0] == warning
    assert main(["query", "--quiet", "--data", "data.ttl", query]) == 0
    assert capsys.readouterr().err == ""
    change = "DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(<http://e/f>(?o)) }"
    assert main(["update", "--data", "data.ttl", change]) == 0
    assert warning in capsys.readouterr().err


def test_the_dataset_can_be_chosen(capsys: Captured) -> None:
    graphs = ["--graph-data", "http://g=data.ttl", "--default-graph", "http://g", "--named-graph", "http://h"]
    assert main(["query", "-q", *graphs, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o FILTER NOT EXISTS { GRAPH ?g {} } }"]) == 0
    assert capsys.readouterr().out == "?n\n5\n"


def test_relative_iris_of_data_and_query_meet_at_the_base(capsys: Captured, folder: Path) -> None:
    (folder / "relative.ttl").write_text("<a> <b> <c> .")
    assert main(["query", "-q", "-d", "relative.ttl", "ASK { <a> <b> <c> }"]) == 0
    assert main(["query", "-q", "-d", "relative.ttl", "--base", "http://e/", "ASK { <a> <b> <http://e/c> }"]) == 0
    assert capsys.readouterr().out == "true\ntrue\n"


def test_limits_end_a_query(capsys: Captured) -> None:
    assert main(["query", "-q", "-d", "data.ttl", "--max-rows", "2", "SELECT * { ?s ?p ?o }"]) == 1
    assert "limit of 2 rows" in capsys.readouterr().err
    endless = "SELECT (COUNT(*) AS ?n) { " + "".join(f"?a{n} ?b{n} ?c{n} . " for n in range(14)) + "}"
    assert main(["query", "-q", "-d", "data.ttl", "--timeout", "0.1", endless]) == 1
    assert "limit of 0.1 s" in capsys.readouterr().err


def test_whoever_reads_only_the_beginning_hears_no_complaint() -> None:
    query = "SELECT * { " + " ".join(f"VALUES ?v{n} {{ 0 1 2 3 4 5 6 7 8 9 }}" for n in range(9)) + " }"
    with subprocess.Popen(
        [sys.executable, "-m", "tidings", "query", "--empty", query], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline().startswith(b"?v0\t")  # a thousand million rows are never held
        process.stdout.close()
        assert process.wait(PATIENCE) == 141
        assert process.stderr.read() == b""


# -- what is wrong ----------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ([], "say what to do"),
        (["qurey"], "there is no command 'qurey'"),
        (["query"], "give one query"),
        (["query", "ASK {}", "--file", "x"], "give one query"),
        (["query", "--file", "nope.rq"], "nope.rq: No such file"),
        (["query", "--bogus", "ASK {}"], "unrecognized arguments: --bogus (see tidings query --help)"),
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


# -- update -----------------------------------------------------------------------------------------------------

SWAP = "DELETE { ?s ?p 3 } INSERT { ?s ?p 4 , 1 } WHERE { ?s ?p 3 }"


def test_an_update_counts_and_leaves_the_files_alone(capsys: Captured, folder: Path) -> None:
    assert main(["update", "--data", "data.ttl", SWAP]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1] == "added 2, removed 1"
    assert (folder / "data.ttl").read_text() == DATA


def test_the_delta_is_what_changed_and_nothing_else(capsys: Captured) -> None:
    assert main(["update", "-q", "-d", "data.ttl", "--delta", SWAP]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [(line[0], line.split('"')[1]) for line in lines] == [("-", "3"), ("+", "4"), ("+", "1")]
    assert all(line.endswith(" .") for line in lines)


def test_the_data_after_the_update_goes_where_it_is_wanted(capsys: Captured, folder: Path) -> None:
    assert main(["update", "-q", "-d", "data.ttl", "-o", "new.nt.gz", SWAP]) == 0
    assert gzip.decompress((folder / "new.nt.gz").read_bytes()).count(b"\n") == 6
    assert main(["update", "-q", "-d", "data.ttl", "-o", "-", SWAP]) == 0
    assert capsys.readouterr().out.count("\n") == 6
    assert main(["update", "-q", "-d", "data.ttl", "--in-place", f"PREFIX : <http://example.org/> {SWAP}"]) == 0
    assert len(list(ox.parse((folder / "data.ttl").read_bytes(), ox.RdfFormat.TURTLE))) == 6
    assert sorted(path.name for path in folder.iterdir()) == ["data.ttl", "new.nt.gz"]


def test_a_failing_update_in_place_leaves_the_file_as_it_was(capsys: Captured, folder: Path) -> None:
    named = "INSERT DATA { GRAPH <http://g> { <http://a> <http://b> 1 } }"
    assert main(["update", "-q", "-d", "data.ttl", "--in-place", named]) == 1  # Turtle has no place for it
    assert (folder / "data.ttl").read_text() == DATA
    assert [path.name for path in folder.iterdir()] == ["data.ttl"]


def test_load_reads_files_when_it_may(capsys: Captured) -> None:
    assert main(["update", "--allow-load", "LOAD <data.ttl> INTO GRAPH <http://g>"]) == 0
    assert "added 5, removed 0" in capsys.readouterr().err


# -- convert and city -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.ttl", "out.trig", "out.nt", "out.nq", "out.rdf", "out.jsonld", "out.nt.gz"])
def test_there_and_back_is_where_one_was(capsys: Captured, folder: Path, name: str) -> None:
    assert main(["convert", "data.ttl", name]) == 0
    assert main(["convert", "-q", name, "--to", "ntriples"]) == 0
    out, err = capsys.readouterr()
    assert set(ox.parse(out, ox.RdfFormat.N_TRIPLES)) == set(ox.parse(DATA, ox.RdfFormat.TURTLE))
    assert err.startswith("converted 5 quads from data.ttl")


def test_prefixes_abbreviate(capsys: Captured) -> None:
    assert main(["convert", "-q", "data.ttl", "--to", "turtle", "--prefix", "e=http://example.org/"]) == 0
    assert 'e:a e:p 1 , 2 ;\n    e:name "Ann" .' in capsys.readouterr().out


def test_a_named_graph_does_not_fit_into_turtle(capsys: Captured, folder: Path) -> None:
    (folder / "named.nq").write_text("<http://a> <http://b> <http://c> <http://g> .\n")
    assert main(["convert", "named.nq", "out.ttl"]) == 1
    assert not (folder / "out.ttl").exists()


def test_the_city_is_the_same_for_the_same_seed(capsys: Captured, folder: Path) -> None:
    for name, seed in (("one.nt", "7"), ("two.nt", "7"), ("three.nt", "8")):
        assert main(["city", "--factor", "0.01", "--seed", seed, "--output", name]) == 0
    one, two, three = ((folder / name).read_bytes() for name in ("one.nt", "two.nt", "three.nt"))
    assert one == two != three
    assert main(["city", "--factor", "0.01"]) == 0
    assert capsys.readouterr().out.count("\n") == one.count(b"\n")


# -- tables -----------------------------------------------------------------------------------------------------


def test_a_terminal_gets_a_table_with_short_names() -> None:
    query = "PREFIX e: <http://example.org/> SELECT ?who ?n { ?who e:p ?n } ORDER BY ?n"
    table = in_terminal("query", "-d", "data.ttl", query)
    assert table == (
        "\x1b[1m?who  ?n\x1b[0m\n\x1b[2m────  ──\x1b[0m\n"
        "\x1b[36me:a \x1b[0m   1\n\x1b[36me:a \x1b[0m   2\n\x1b[36me:b \x1b[0m   3\n"
    )


def test_a_terminal_gets_turtle_for_construct() -> None:
    query = "PREFIX e: <http://example.org/> CONSTRUCT WHERE { e:a e:p ?o }"
    assert in_terminal("query", "-d", "data.ttl", query).endswith("e:a e:p 1 , 2 .\n")


def drawn(rows: list[tuple[str | None, ...]], width: int = 80) -> list[str]:
    variables = tuple("abcdefghij"[: len(rows[0])])
    lines = list(draw(Solutions(variables, rows), Names({}), width=width, colour=False))
    assert all(line.endswith("\n") for line in lines)
    return [line.rstrip("\n") for line in lines]


def test_numbers_stand_to_the_right_and_unbound_is_empty() -> None:
    number = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert drawn([('"x"', number.format(5)), (None, number.format(1000))]) == [
        "?a    ?b",
        "──  ────",
        "x      5",
        "    1000",
    ]


def test_what_is_too_wide_is_folded_and_fits() -> None:
    lines = drawn([('"short"', f'"{"日本" * 20}"')], width=24)
    assert [line.strip() for line in lines[2:4]] == ["short  " + "日本" * 4, "日本" * 4]
    assert len(lines) == 2 + 5


def test_a_very_long_value_ends_in_an_ellipsis() -> None:
    assert fold("x" * 1000, 10) == ["x" * 10] * 7 + ["x" * 9 + "…"]


def test_a_row_is_a_few_lines_where_columns_do_not_fit() -> None:
    lines = drawn([tuple(f'"{n}"' for n in range(8)), ("<http://e>", *[None] * 7)], width=40)
    assert lines[:3] == ["── 1 ", "?a 0", "?b 1"]
    assert lines[-2:] == ["── 2 ", "?a <http://e>"]


def test_widths_are_shared_fairly() -> None:
    assert fit([5, 5], 20) == [5, 5]
    assert fit([5, 100], 40) == [5, 33]
    assert fit([60, 5, 100], 50) == [20, 5, 20]


def test_terms_are_shown_for_people() -> None:
    names = Names({"e": "http://example.org/"})
    assert names["<http://example.org/a.b-c>"] == "e:a.b-c"
    assert names["<http://example.org/a/b>"] == "<http://example.org/a/b>"
    assert names['"chat"@fr'] == "chat @fr"
    assert names['"5"^^<http://example.org/metre>'] == "5 ^^e:metre"
    assert names["_:x"] == "_:x"
    assert names['"a\\nb\\u001B[2J"'] == r"a\nb\x1b[2J"


def test_nothing_in_the_data_can_command_the_terminal() -> None:
    assert harmless("\x1b\x9b\u202e\u2066\r\n\x7f") == r"\x1b\x9b\u202e\u2066\r\n\x7f"


# -- the program ------------------------------------------------------------------------------------------------


def test_the_version_is_told() -> None:
    assert run("--version").stdout == f"tidings {__version__}\n"


def test_a_command_in_a_pipe_imports_neither_a_web_server_nor_a_terminal_library() -> None:
    call = "main(['query', '-q', '--empty', 'ASK {}'])"
    code = f"import sys; from tidings.cli import main; {call}; print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not [
        name for name in ("rich", "starlette", "uvicorn", "asyncio", "tidings.server.app") if f"'{name}'" in loaded
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_teaches_with_examples(capsys: Captured, name: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"examples:\n  tidings {name}" in capsys.readouterr().out


@pytest.mark.parametrize("example", [line for line in EXAMPLES if runs_alone(line)])
def test_every_example_of_the_help_runs(folder: Path, example: str) -> None:
    furnish(folder)
    done = shell(example, folder)
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr
    assert done.stdout or any(word in example for word in ("--output", "--in-place", "convert city.nt city", "> "))


@pytest.mark.parametrize("example", [line for line in EXAMPLES if "tidings serve" in line])
def test_every_example_of_serve_runs(
    capsys: Captured, folder: Path, monkeypatch: pytest.MonkeyPatch, example: str
) -> None:
    loaded: list[Quad] = []

    def serve(
        settings: Settings,
        quads: Callable[[], Iterable[Quad]],
        announce: Callable[[app.Opened], None],
        say: Callable[[str], None],
    ) -> None:
        loaded.extend(quads())
        announce(app.Opened(app.build_broker(settings), f"http://x:{settings.http_port}", f"ws://x:{settings.ws_port}"))

    monkeypatch.setattr(app, "serve", serve)
    monkeypatch.setattr("tidings.cli.commands.operation.serve.configure", lambda *_: None)
    (folder / "tidings.toml").write_text("http_port = 8001\n")
    assert main(["city", "--factor", "0.01", "--output", "city.nt"]) == 0
    words = shlex.split(example)
    while "=" in words[0]:
        monkeypatch.setenv(*words.pop(0).split("=", 1))
    assert main(words[1:]) == 0
    said = capsys.readouterr().out
    assert "/sparql" in said
    assert ("in memory only" in said) == ("--memory" in example)
    assert bool(loaded) == ("--load " in example)
    assert not (folder / "tidings-data").exists()
