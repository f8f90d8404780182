"""Commands at a running broker: what they print, and what they say when something is wrong."""

import json
import re
import shlex
import signal
from pathlib import Path
from subprocess import PIPE

import pytest

from cli.shell import CHAT, JSAP
from forking.process import Forked
from gates.wire import Broker, own_ports, serving
from tidings.cli import main
from tidings.cli.input.binding import read_term
from tidings.cli.output.amounts import duration, size
from waiting import PATIENCE

Captured = pytest.CaptureFixture[str]
server = pytest.mark.server
P = "PREFIX : <http://example.org/> "


def said(capsys: Captured, *arguments: str, code: int = 0) -> str:
    """What a command prints; or complains of, in one line, if it has to end with another code."""
    assert main(arguments) == code
    out, err = capsys.readouterr()
    if code:
        assert out == ""
        assert err.count("\n") == 1
        assert err.startswith("tidings: error: ")
        return str(err)
    return str(out)


# -- query and update -------------------------------------------------------------------------------------------


@server
def test_an_update_says_which_commit_it_was_and_a_query_shows_it(broker: Broker, capsys: Captured) -> None:
    told = said(capsys, "update", f"{P}INSERT DATA {{ :a :p 1, 2 }}")
    assert told.startswith("commit ")
    assert ": added 2, removed 0, 2" in told
    assert said(capsys, "update", f"{P}INSERT DATA {{ :a :p 1 }}").startswith("no change after commit ")
    assert said(capsys, "query", f"{P}SELECT ?o {{ :a :p ?o }} ORDER BY ?o") == "?o\n1\n2\n"
    assert said(capsys, "query", "-q", "--format", "table", f"{P}SELECT * {{ ?s ?p 1 }}").splitlines() == [
        "?s  ?p",
        "──  ──",
        ":a  :p",
    ]


@server
def test_a_query_may_be_about_the_past_of_a_broker(broker: Broker, capsys: Captured) -> None:
    commit = broker.update(f"{P}INSERT DATA {{ :a :p 1 }}")["sequence"]
    broker.update(f"{P}INSERT DATA {{ :a :p 2 }}")
    query = f"{P}SELECT ?o {{ :a :p ?o }}"
    assert said(capsys, "query", "--at", str(commit), query) == "?o\n1\n"
    assert "no commit" in said(capsys, "query", "--at", str(commit + 5), query, code=1)
    assert "files have no past" in said(capsys, "query", "--empty", "--at", "1", query, code=2)


@server
@pytest.mark.parametrize("name", ["json", "xml", "csv", "tsv", "table"])
def test_every_format_of_results_can_be_had(broker: Broker, capsys: Captured, name: str) -> None:
    broker.update(f"{P}INSERT DATA {{ :a :p 'x' }}")
    assert "example.org/a" in said(capsys, "query", "--format", name, "SELECT ?s { ?s ?p 'x' }")


@server
@pytest.mark.parametrize("name", ["turtle", "trig", "ntriples", "nquads", "rdfxml", "jsonld"])
def test_every_format_of_triples_can_be_had(broker: Broker, capsys: Captured, tmp_path: Path, name: str) -> None:
    broker.update(f"{P}INSERT DATA {{ :a :p 'x' }}")
    assert "example.org/" in said(capsys, "query", "--format", name, f"{P}CONSTRUCT WHERE {{ ?s :p ?o }}")
    assert main(["query", "CONSTRUCT WHERE { ?s ?p ?o }", "-o", f"out.{'ttl' if name == 'turtle' else 'nq'}"]) == 0
    assert len(list(tmp_path.iterdir())) == 1


@server
def test_a_value_is_bound_as_a_term_and_changes_nothing_else(broker: Broker, capsys: Captured) -> None:
    evil = '"} ; DROP ALL #"'
    update = f"{P}INSERT DATA {{ ?a :p ?b }}"
    assert "added 1" in said(capsys, "update", update, "--bind", "a=:x", "--bind", f"b={evil}")
    assert "added 1" in said(capsys, "update", update, "--bind", "?a=<http://e/y>", "--bind", 'b="chat"@fr')
    rows = said(capsys, "query", f"{P}SELECT ?s ?o {{ ?s :p ?o }}", "--bind", f"o={evil}", "--format", "csv")
    assert rows.splitlines()[1].startswith("http://example.org/x,")
    assert "no variable ?zzz" in said(capsys, "query", "SELECT * { ?s ?p ?o }", "--bind", "zzz=1", code=1)


@pytest.mark.parametrize(
    ("value", "term"),
    [
        ("<http://e/a>", "<http://e/a>"),
        ("<a>", "<a>"),
        ("e:a", "<http://e/a>"),
        ('"x"', '"x"'),
        ("'x'@en", '"x"@en'),
        ("5", '"5"^^<http://www.w3.org/2001/XMLSchema#integer>'),
        ("-1.5", '"-1.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'),
        ("true", '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'),
        ('"5"^^e:m', '"5"^^<http://e/m>'),
    ],
)
def test_values_are_written_as_in_turtle(value: str, term: str) -> None:
    assert read_term(value, {"e": "http://e/", "relative": "x"}) == term


@pytest.mark.parametrize("bind", ["x", "=1", "x=word", "x=1, 2", "x=[]", "x=_:b", "x=<a b>", "x=1 . <a> <b> <c>", "x="])
def test_what_is_no_value_is_a_call_that_makes_no_sense(capsys: Captured, bind: str) -> None:
    said(capsys, "query", "--empty", "SELECT ?x {}", "--bind", bind, code=2)


@server
def test_the_dataset_and_the_base_can_be_chosen(broker: Broker, capsys: Captured) -> None:
    broker.update("INSERT DATA { GRAPH <http://e/g> { <http://e/a> <http://e/p> 1 } }")
    query = "SELECT (COUNT(*) AS ?n) { <a> ?p ?o }"
    assert said(capsys, "query", query, "--base", "http://e/", "--default-graph", "http://e/g") == "?n\n1\n"
    assert said(capsys, "query", query, "--base", "http://e/") == "?n\n0\n"


@server
def test_delayed_updates_are_listed_and_cancelled(broker: Broker, capsys: Captured) -> None:
    assert said(capsys, "update", "--delay", "PT1H", "CLEAR ALL").startswith("accepted for ")
    said(capsys, "update", "--at", "2999-01-01T00:00:00Z", "DROP\nALL")
    head, first, second = (line.split("\t") for line in said(capsys, "delayed").splitlines())
    assert head == ["id", "at", "in", "update"]
    assert (first[3], second[1], second[3]) == ("CLEAR ALL", "2999-01-01T00:00:00Z", "DROP ALL")
    assert json.loads(said(capsys, "delayed", "list", "--json").splitlines()[0])["delayed"] == first[0]
    assert said(capsys, "delayed", "cancel", "--http", broker.http, first[0], second[0]).count("cancelled") == 2
    assert said(capsys, "delayed") == "id\tat\tin\tupdate\n"
    assert first[0] in said(capsys, "delayed", "cancel", first[0], code=1)


# -- what is wrong ----------------------------------------------------------------------------------------------

NOWHERE = "http://127.0.0.1:9"


@pytest.mark.parametrize(
    "arguments",
    [
        ["query", "ASK {}"],
        ["update", "CLEAR ALL"],
        ["explain", "ASK {}"],
        ["explain", "urn:uuid:1"],
        ["load", "some.nt"],
        ["dump"],
        ["subscribe", "ASK {}"],
        ["status"],
        ["subscriptions"],
        ["delayed"],
        ["log"],
        ["log", "--follow"],
    ],
)
def test_where_no_broker_is_one_line_says_so(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some.nt").touch()
    complaint = said(capsys, *arguments, "--http", NOWHERE, code=1)
    assert f"nobody answers at {NOWHERE}: connection refused; tidings serve starts a broker" in complaint


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["query", "--max-rows", "5", "ASK {}"], "--max-rows goes with --data"),
        (["update", "--delta", "CLEAR ALL"], "--delta goes with --data"),
        (["update", "--empty", "--delay", "5", "CLEAR ALL"], "files do not wait"),
        (["update", "--at", "x", "--delay", "5", "CLEAR ALL"], "not allowed with"),
        (["query", "--http", "localhost", "ASK {}"], "starts with http://"),
        (["subscribe", "--ws", "http://localhost", "ASK {}"], "starts with ws://"),
        (["subscribe", "--json", "--changes", "ASK {}"], "not allowed with"),
        (["explain", "urn:uuid:1", "--empty"], "takes neither data nor bindings"),
        (["dump", "--format", "turtle"], "has no place for graphs"),
        (["dump", "--format", "pdf"], "'pdf'"),
        (["dump", "--graph", "x"], "not an absolute IRI"),
        (["load", "-"], "give --format"),
        (["load", "-", "--format", "turtle", "--resume"], "nothing to resume"),
        (["load"], "FILE"),
        (["delayed", "cancel"], "tidings delayed cancel ID"),
        (["delayed", "list", "x"], "tidings delayed cancel ID"),
        (["agents", "chat.jsap", "produce"], "produce NAME"),
        (["agents", "chat.jsap", "produce", "SEND", "x"], "VARIABLE=VALUE"),
        (["agents", "chat.jsap", "produce", "SEND", "--json"], "for consume"),
        (["completion", "tcsh"], "tcsh"),
        (["log", "--from", "0"], "argument --from"),
        (["update", "--publisher", "x", "--empty", "CLEAR ALL"], "--publisher is for the broker"),
    ],
)
def test_a_call_that_makes_no_sense_ends_with_2_and_one_line(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], part: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chat.jsap").write_text(CHAT)
    assert part in said(capsys, *arguments, code=2)


@server
def test_what_the_broker_refuses_is_one_line(broker: Broker, capsys: Captured) -> None:
    assert "LOAD" in said(capsys, "update", "LOAD <file:///x.ttl>", code=1)
    assert "urn:uuid:nobody" in said(capsys, "explain", "urn:uuid:nobody", code=1)
    assert "may be like 2026" in said(capsys, "update", "--at", "soon", "CLEAR ALL", code=1)
    assert "/nothing" in said(capsys, "status", "--http", f"{broker.http}/nothing", code=1)


@server
def test_a_wrong_query_is_shown_with_a_caret_and_not_sent(broker: Broker, capsys: Captured) -> None:
    assert main(["subscribe", "SELECT * { ?s ?p }"]) == 1
    assert capsys.readouterr().err.splitlines()[2].endswith("^")


# -- how it is --------------------------------------------------------------------------------------------------


@server
def test_the_status_is_a_page_for_people_and_json_for_programs(broker: Broker, capsys: Captured) -> None:
    broker.update("INSERT DATA { <http://e/a> <http://e/b> 1 . GRAPH <http://e/g> { <http://e/a> <http://e/b> 1 } }")
    page = said(capsys, "status")
    assert page.startswith("Tidings ")
    assert "  data           2 quads, 1 named graph\n" in page
    assert "  T_UPDATE " in page
    assert json.loads(said(capsys, "status", "--json"))["quads"] == 2


def test_numbers_are_shown_for_people() -> None:
    assert [duration(seconds) for seconds in (0.4, 61, 3600, 90_061)] == ["0 s", "1 min 1 s", "1 h", "1 d 1 h"]
    assert [size(number) for number in (5, 2048, 5 << 30)] == ["5 B", "2.0 KiB", "5.0 GiB"]


@server
def test_a_running_subscription_is_listed_and_explained(broker: Broker, capsys: Captured) -> None:
    query = f"{P}SELECT ?o WHERE {{ :lamp :power ?o }}"
    with Forked("subscribe", "--changes", query, stdout=PIPE) as process:
        assert process.stdout
        try:
            assert process.stdout.readline().startswith("sequence 0, ")
            _, row = (line.split("\t") for line in said(capsys, "subscriptions").splitlines())
            assert (row[1:4], row[5:]) == (["0", "there", "by delta rules"], [query])
            assert re.fullmatch(r"\d+ s", row[4])  # what its plan has cost
            assert "<http://example.org/power> *" in said(capsys, "explain", row[0])
            assert isinstance(json.loads(said(capsys, "explain", "--json", row[0])), dict)
            assert json.loads(said(capsys, "subscriptions", "--json"))["spuid"] == row[0]
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
    assert said(capsys, "subscriptions").count("\n") == 1  # it was ended, not left behind


@server
def test_a_query_is_explained_by_the_broker_and_leaves_nothing_behind(broker: Broker, capsys: Captured) -> None:
    assert "woken by" in said(capsys, "explain", "SELECT ?s { ?s <http://e/p> ?o }")
    assert said(capsys, "subscriptions").count("\n") == 1


# -- log --------------------------------------------------------------------------------------------------------


@server
def test_the_log_is_read_in_both_formats(broker: Broker, capsys: Captured) -> None:
    first = broker.update("INSERT DATA { <http://e/a> <http://e/b> 1, 2 }")["sequence"]
    broker.update("DELETE DATA { <http://e/a> <http://e/b> 1 }")
    lines = [json.loads(line) for line in said(capsys, "log", "--from", str(first)).splitlines()]
    assert [(line["seq"] - first, line["op"]) for line in lines] == [(0, "add"), (0, "add"), (1, "remove")]
    patch = said(capsys, "log", "--from", str(first), "--limit", "1", "--format", "patch")
    assert patch.count("TC .\n") == 1
    assert said(capsys, "log", "--from", str(first + 2)) == ""


@server
def test_the_log_says_who_published(broker: Broker, capsys: Captured, tmp_path: Path) -> None:
    first = broker.update("INSERT DATA { <http://e/a> <http://e/b> 1 }")["sequence"]
    said(capsys, "update", "--publisher", "été", "INSERT DATA { <http://e/a> <http://e/b> 2 }")
    (tmp_path / "some.nt").write_text("<http://e/a> <http://e/b> <http://e/c> .\n")
    said(capsys, "load", "--publisher", "loader", "some.nt")
    lines = [json.loads(line) for line in said(capsys, "log", "--from", str(first)).splitlines()]
    assert [line.get("by") for line in lines] == [None, "été", "loader"]
    assert 'H by "loader" .' in said(capsys, "log", "--from", str(first + 2), "--format", "patch")
    assert "printable" in said(capsys, "update", "--publisher", "a\nb", "CLEAR ALL", code=1)
    assert "printable" in said(capsys, "load", "--publisher", "", "some.nt", code=1)


@server
def test_the_log_is_followed_over_a_restart(tmp_path: Path) -> None:
    ports = own_ports()
    with serving(tmp_path, *ports) as first:
        first.update("INSERT DATA { <http://e/a> <http://e/b> 1 }")
        with Forked("log", "--follow", "--limit", "3", "--http", first.http, stdout=PIPE) as process:
            assert process.stdout
            assert json.loads(process.stdout.readline())["seq"] == 1
            first.stop()
            with serving(tmp_path, *ports, program=("-m", "tidings", "serve")) as second:
                second.update("INSERT DATA { <http://e/a> <http://e/b> 2 }")
                second.update("INSERT DATA { <http://e/a> <http://e/b> 3 }")
                rest, _ = process.communicate(timeout=PATIENCE)
        assert [json.loads(line)["seq"] for line in rest.splitlines()] == [2, 3]
        assert process.returncode == 0


@server
def test_a_table_without_rows_says_where_the_data_are(broker: Broker, capsys: Captured) -> None:
    def hint(*arguments: str) -> bool:
        assert main(["query", "--format", "table", *arguments]) == 0
        return "the default graph is empty; for the named ones, write GRAPH ?g" in capsys.readouterr().err

    assert not hint("SELECT * { ?s ?p ?o }")  # there is nothing at all
    broker.update("INSERT DATA { GRAPH <g> { <a> <b> 1 } }")
    assert hint("SELECT * { ?s ?p ?o }")
    assert hint("ASK { ?s ?p ?o }")
    assert not hint("SELECT * { ?s ?p ?o }", "--quiet")
    assert not hint("SELECT * { graph ?g { ?s ?p 7 } }")
    assert not hint("SELECT * { GRAPH ?g { ?s ?p ?o } }")
    broker.update("INSERT DATA { <a> <b> 1 }")
    assert not hint("SELECT * { ?s ?p 7 }")


# -- agents -----------------------------------------------------------------------------------------------------


@server
def test_the_agents_of_a_profile_are_listed_and_run(broker: Broker, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "chat.jsap").write_text(CHAT)
    _, update, query = (line.split("\t") for line in said(capsys, "agents", "chat.jsap").splitlines())
    assert update[:4] == [
        "update", "SEND", "?message uri, ?sender uri, ?text @en, ?stars xsd:integer = 0", "http://localhost:8000/update",
    ]  # fmt: skip
    assert query[3] == "ws://localhost:9000/subscribe"
    at = "--http", broker.http
    values = "message=chat:m1", "sender=chat:alice", "text=} ; DROP ALL #"
    assert "added 4" in said(capsys, "agents", "chat.jsap", "produce", "SEND", *values, *at)
    heard = said(capsys, "agents", "chat.jsap", "consume", "SENT", "--count", "1", *at)
    assert heard.splitlines()[1] == "+ ?message chat:m1  ?sender chat:alice  ?text } ; DROP ALL # @en"
    none = said(capsys, "agents", "chat.jsap", *at, "consume", "SENT", "sender=chat:bob", "--json", "--count", "1")
    assert json.loads(none)["added"] == []
    assert "missing value" in said(capsys, "agents", "chat.jsap", "produce", "SEND", *at, code=1)
    assert 'did you mean "SEND"' in said(capsys, "agents", "chat.jsap", "produce", "SED", *at, code=1)
    assert "no such" in said(capsys, "agents", "nope.jsap", code=1).lower()


@server
def test_the_profile_of_the_documentation_works_with_the_commands_of_the_documentation(
    broker: Broker, tmp_path: Path, capsys: Captured
) -> None:
    (tmp_path / "chat.jsap").write_text(CHAT)
    _, _, section = JSAP.partition("runs the same profile:")
    (commands, told) = re.findall(r"^```\w*\n(.*?)^```", section, re.MULTILINE | re.DOTALL)[:2]
    reference = (Path(__file__).parents[2] / "docs/cli.md").read_text()
    assert commands in reference
    calls = [shlex.split(line)[1:] for line in commands.splitlines()]
    heard = "".join(said(capsys, *call, "--http", broker.http) for call in calls)
    assert [figureless(line) for line in heard.splitlines()] == [figureless(line) for line in told.splitlines()]


def figureless(line: str) -> str:
    """Without the number of the commit, and its time."""
    return re.sub(r"commit \d+|\d{4}-.*Z", "…", line)


@server
def test_the_environment_names_the_broker_and_an_option_wins(
    broker: Broker, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TIDINGS_WS")  # then it is asked over HTTP where it is
    assert json.loads(said(capsys, "subscribe", "--json", "--count", "1", "ASK {}"))["sequence"] == 0
    monkeypatch.setenv("TIDINGS_HTTP", NOWHERE)
    monkeypatch.setenv("TIDINGS_WS", "ws://127.0.0.1:9/subscribe")
    assert said(capsys, "query", "ASK {}", "--http", broker.http) == "true\n"
    assert json.loads(said(capsys, "subscribe", "--json", "--count", "1", "ASK {}", "--http", broker.http))
    assert json.loads(said(capsys, "subscribe", "--json", "--count", "1", "ASK {}", "--ws", broker.ws))
