"""Files into a running broker: all of them, once, whatever happens on the way; and out again."""

import gzip
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyoxigraph as ox
import pytest

from forking.process import Forked, run
from gates.wire import Broker, own_ports, serving
from tidings.cli import main
from tidings.cli.input.batches import LARGEST, batches
from tidings.cli.input.genids import Genids, fresh_key, unnamed
from tidings.model.formats.blanks import KEEP_LABELS
from tidings.model.formats.rdf import RdfFormat, parse_rdf
from tidings.model.terms import Quad
from waiting import PATIENCE, wait_until

pytestmark = pytest.mark.server
Captured = pytest.CaptureFixture[str]

BLANKS = """\
@prefix : <http://example.org/> .
_:far :name "far" .
""" + "\n".join(f":n{n} :knows [ :number {n} ; :sees _:far ] ." for n in range(20))


def size(broker: Broker) -> int:
    (row,) = broker.query("SELECT (COUNT(*) AS ?n) { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }")
    return int(row["n"]["value"])


def triples(number: int) -> str:
    return "".join(f"<http://example.org/s{n}> <http://example.org/p> {json.dumps(str(n))} .\n" for n in range(number))


# -- all of it --------------------------------------------------------------------------------------------------


def test_a_file_is_loaded_in_batches_into_a_graph(broker: Broker, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "some.nt").write_text(triples(25))
    before = broker.update("INSERT DATA {}")["sequence"]
    assert main(["load", "some.nt", "--batch", "10", "--graph", "http://example.org/g"]) == 0
    assert broker.update("INSERT DATA {}")["sequence"] == before + 3
    assert len(broker.query("SELECT * { GRAPH <http://example.org/g> { ?s ?p ?o } }")) == 25
    assert capsys.readouterr().err.startswith("loaded 25 statements from some.nt in ")
    assert not (tmp_path / "some.nt.load").exists()
    assert main(["load", "some.nt", "--graph", "http://example.org/g"]) == 0
    assert capsys.readouterr().err.endswith(": 0 new\n")


@pytest.mark.parametrize("name", ["d.ttl", "d.trig", "d.nt", "d.nq", "d.rdf", "d.jsonld", "d.nt.gz"])
def test_all_formats_are_loaded(broker: Broker, tmp_path: Path, name: str) -> None:
    (tmp_path / "some.nt").write_text(triples(12))
    assert main(["convert", "-q", "some.nt", name]) == 0
    assert main(["load", "-q", name, "--batch", "5"]) == 0
    assert size(broker) == 12


def test_several_files_and_stdin_are_loaded(broker: Broker, tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text(triples(3))
    (tmp_path / "b.nq").write_text("<http://e/a> <http://e/b> <http://e/c> <http://e/g> .\n")
    assert main(["load", "-q", "a.nt", "b.nq"]) == 0
    done = run("load", "--format", "turtle", "-", stdin="<x> <y> [] .")
    assert done.stderr.startswith("loaded 1 statements from stdin")
    assert size(broker) == 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.nt", "b.nq"]


@pytest.mark.parametrize("value", ["\\\\u0041", "\\\\", '\\u0007\\n\\t\\"', "}", "# no comment", "日本\\U0001F600"])
def test_every_literal_arrives_as_it_is(broker: Broker, tmp_path: Path, value: str) -> None:
    line = f'<http://e/a> <http://e/b> "{value}"@en-GB .\n'
    (tmp_path / "one.nt").write_text(line)
    assert main(["load", "-q", "one.nt"]) == 0
    assert main(["dump", "-q", "--graph", "default", "--output", "back.nt"]) == 0
    back = set(ox.parse((tmp_path / "back.nt").read_bytes(), ox.RdfFormat.N_TRIPLES))
    assert back == set(ox.parse(line, ox.RdfFormat.N_TRIPLES))


# -- blank nodes ------------------------------------------------------------------------------------------------


def isomorphic(one: bytes, other: bytes, format_: ox.RdfFormat) -> bool:
    datasets = [ox.Dataset(ox.parse(document, format_)) for document in (one, other)]
    for dataset in datasets:
        dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return set(datasets[0]) == set(datasets[1])


def test_a_blank_node_is_the_same_in_all_batches_and_whenever_the_file_is_loaded(
    broker: Broker, tmp_path: Path
) -> None:
    (tmp_path / "blanks.ttl").write_text(BLANKS)
    for _ in range(2):
        assert main(["load", "-q", "blanks.ttl", "--batch", "3"]) == 0
        assert size(broker) == 61
        (row,) = broker.query(
            "SELECT (COUNT(DISTINCT ?far) AS ?n) (SAMPLE(?far) AS ?one) { ?x <http://example.org/sees> ?far }"
        )
        assert row["n"]["value"] == "1"
        assert row["one"]["value"].startswith("http://tidings.example/.well-known/genid/b")
    assert main(["dump", "-q", "--graph", "default", "--blank-nodes", "--output", "back.nt"]) == 0
    turtle = ox.serialize(ox.parse(BLANKS, ox.RdfFormat.TURTLE), format=ox.RdfFormat.N_TRIPLES)
    assert turtle is not None
    assert isomorphic((tmp_path / "back.nt").read_bytes(), turtle, ox.RdfFormat.N_TRIPLES)


def test_blank_nodes_of_different_files_are_different(broker: Broker, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.nt").write_text(f'_:x <http://e/p> "{name}" .\n')
    assert main(["load", "-q", "a.nt", "b.nt"]) == 0
    assert len(broker.query("SELECT DISTINCT ?s { ?s ?p ?o }")) == 2


@pytest.mark.parametrize(
    ("document", "format_"),
    [
        (BLANKS.encode(), RdfFormat.TURTLE),
        (b'[{"http://e/p": [{"http://e/q": 1}, {"@id": "_:z"}]}, {"http://e/r": {"@list": [1]}}]', RdfFormat.JSON_LD),
    ],
)
def test_nodes_without_a_label_are_known_by_their_turn(document: bytes, format_: RdfFormat) -> None:
    key = fresh_key()

    def read() -> list[Quad]:
        return list(Genids("http://e/", lambda: key)(parse_rdf(document, format_, "http://e/", blanks=KEEP_LABELS)))

    assert read() == read()
    assert not any(term.startswith("_:") for quad in read() for term in quad)
    assert any(term.startswith("_:") for quad in map(unnamed, read()) for term in quad)


def test_a_batch_ends_before_it_is_too_large_for_a_broker() -> None:
    quads = [("<http://e/s>", "<http://e/p>", f'"{"x" * (LARGEST // 2)}{n}"', "") for n in range(5)]
    found = list(batches(iter(quads), 1, 1000))
    assert [(batch.end, bool(batch.text)) for batch in found] == [(1, False), (3, True), (5, True)]


# -- what happens on the way ------------------------------------------------------------------------------------


def test_nothing_behind_a_fault_is_sent(broker: Broker, tmp_path: Path, capsys: Captured) -> None:
    sound = triples(20_000)
    (tmp_path / "bad.nt").write_text(sound + "<http://e/a> <b .\n" + triples(20_005).removeprefix(sound))
    assert main(["load", "-q", "bad.nt", "--batch", "100"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("tidings: error: bad.nt: line 20001, column ")
    count = size(broker)
    assert 10_000 < count <= 20_000
    assert said[0].endswith(f"; {count:,} statements of bad.nt are in")
    assert said[1] == "  <http://e/a> <b ."
    assert broker.query("SELECT * { <http://example.org/s20001> ?p ?o }") == []


KILLED_ON_THE_WAY = """
import os, signal, sys
from tidings.cli import main
from tidings.cli.input.positions import Positions

def reached(positions, path, statements, note=Positions.reached):
    note(positions, path, statements)
    if statements >= 5000:
        os.kill(os.getpid(), signal.SIGKILL)

Positions.reached = reached
main(sys.argv[1:])
"""


def test_a_killed_load_goes_on_where_it_was(broker: Broker, tmp_path: Path, capsys: Captured) -> None:
    number = 30_000
    (tmp_path / "blanks.nt.gz").write_bytes(
        gzip.compress("".join(f"_:a <http://e/p> _:b{n} .\n" for n in range(number)).encode())
    )
    command = [sys.executable, "-c", KILLED_ON_THE_WAY, "load", "-q", "blanks.nt.gz", "--batch", "50"]
    assert subprocess.run(command, timeout=PATIENCE, check=False).returncode == -signal.SIGKILL
    known = json.loads((tmp_path / "blanks.nt.gz.load").read_text())["files"]
    reached = known[str((tmp_path / "blanks.nt.gz").resolve())]["statements"]
    assert 0 < reached < number
    assert reached <= size(broker) < number
    before = broker.update("INSERT DATA {}")["sequence"]
    assert main(["load", "blanks.nt.gz", "--resume", "--batch", "5000"]) == 0
    assert f"loaded {number - reached:,} statements from blanks.nt.gz after the {reached:,} that were in" in (
        capsys.readouterr().err
    )
    assert size(broker) == number
    assert broker.update("INSERT DATA {}")["sequence"] - before <= (number - reached) // 5000 + 1
    assert not (tmp_path / "blanks.nt.gz.load").exists()


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda: Path("some.nt").write_text(triples(9)), "has changed since"),
        (lambda: Path("some.nt.load").write_text("nonsense"), "does not say how far"),
        (lambda: Path("some.nt.load").write_text('{"graph": "http://g", "base": "x", "files": {}}'), "another graph"),
    ],
)
def test_a_load_that_cannot_be_resumed_says_so(
    broker: Broker, tmp_path: Path, capsys: Captured, change: Callable[[], int], part: str
) -> None:
    (tmp_path / "some.nt").write_text(triples(20_000) + "fault")
    assert main(["load", "some.nt", "--batch", "5000"]) == 1
    capsys.readouterr()
    change()
    assert main(["load", "some.nt", "--resume"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert part in said[0]


def test_a_load_goes_on_over_a_restart_of_the_broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "many.nt").write_text(triples(60_000))
    ports = own_ports()
    with (
        serving(tmp_path, *ports) as first,
        Forked("load", "many.nt", "--batch", "100", "--ws", first.ws, stderr=subprocess.PIPE) as process,
    ):
        wait_until(lambda: (tmp_path / "many.nt.load").exists() or process.poll() is not None)
        first.stop(signal.SIGKILL)
        with serving(tmp_path, *ports) as second:
            _, said = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, said
            assert size(second) == 60_000


def test_a_broker_that_takes_no_updates_is_told_in_one_line(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some.nt").write_text(triples(20))
    with serving(tmp_path, "--memory", "--read-only") as broker:
        assert main(["load", "some.nt", "--ws", broker.ws]) == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].endswith("; 0 statements of some.nt are in")


# -- and out again ----------------------------------------------------------------------------------------------


def test_the_whole_dataset_is_dumped(broker: Broker, tmp_path: Path, capsys: Captured) -> None:
    broker.update(
        "INSERT DATA { <http://e/a> <http://e/b> 1, 'x'@en-GB . GRAPH <http://e/g> { <http://e/a> <http://e/b> 1 } }"
    )
    assert main(["dump"]) == 0
    out, err = capsys.readouterr()
    assert len(set(ox.parse(out, ox.RdfFormat.N_QUADS))) == 3
    assert err == "3 quads\n"
    assert main(["dump", "-q", "--output", "d.trig.gz"]) == 0
    assert len(set(ox.parse(gzip.decompress((tmp_path / "d.trig.gz").read_bytes()), ox.RdfFormat.TRIG))) == 3
    assert main(["dump", "-q", "--graph", "http://e/g", "--format", "nquads"]) == 0
    assert capsys.readouterr().out.endswith(" <http://e/g> .\n")
    assert main(["dump", "--graph", "http://e/nope"]) == 1
    assert capsys.readouterr().err == "tidings: error: the broker has no graph <http://e/nope>\n"


def test_what_is_more_than_one_answer_may_have_is_dumped_in_parts(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = "".join(
        f"<http://e/s{n}> <http://e/p{n % 7}> '{n}' . GRAPH <http://e/g{n % 3}> {{ <http://e/s{n}> <http://e/p> {n} }} "
        for n in range(210)
    )
    with serving(tmp_path, "--memory", "--max-rows", "100") as broker:
        broker.update(f"INSERT DATA {{ {data} }}")
        assert main(["dump", "--http", broker.http]) == 0
        out, err = capsys.readouterr()
        assert len(set(ox.parse(out, ox.RdfFormat.N_QUADS))) == 420
        assert err == "420 quads\n"
        assert main(["dump", "-q", "--http", broker.http, "--graph", "http://e/g1", "--format", "ntriples"]) == 0
        assert len(set(ox.parse(capsys.readouterr().out, ox.RdfFormat.N_TRIPLES))) == 70
