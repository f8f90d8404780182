"""`tidings update`, `tidings convert` and `tidings city`, which read and write files."""

import gzip
from pathlib import Path

import pyoxigraph as ox
import pytest

from cli.calls import DATA, Captured
from tidings.cli import main

pytestmark = pytest.mark.usefixtures("folder")


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
