"""`tidings query`, as people and scripts use it."""

import gzip
import subprocess
import sys
from pathlib import Path

import pyoxigraph as ox
import pytest

from cli.calls import DATA, Captured, run
from tidings.cli import main
from waiting import PATIENCE

pytestmark = pytest.mark.usefixtures("folder")


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
