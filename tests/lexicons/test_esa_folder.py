"""An ESA index on disk: what is written is what is served, and damage is told."""

import tarfile
from pathlib import Path

import numpy as np
import pytest

from matching.small_index import indexed
from tidings.lexicons.errors import IndexDamaged, IndexUnusable, PairsUnreadable
from tidings.lexicons.esa.folder import ARRAYS, MANIFEST, open_index, read_manifest
from tidings.lexicons.esa.pairs import read_sets
from tidings.lexicons.esa.writing import IndexWriter
from tidings.matching.esa.index import Index
from tidings.matching.esa.related import EsaRelatedness

DOCUMENTS = ["a car park for cars", "a vehicle park", "the vehicle is a car", "wind and sand", "sand, éclair, 沙"]
INDEX = indexed(DOCUMENTS)


def written(folder: Path, index: Index = INDEX) -> Path:
    known = range(len(index.terms))
    names = [index.terms[place].decode() for place in known]
    sizes = np.diff(index.starts).tolist()
    writer = IndexWriter(folder, names, index.idf.tolist(), sizes, map(index.title, range(len(index.titles))))
    for place in reversed(known):
        part = slice(int(index.starts[place]), int(index.starts[place + 1]))
        writer.place(place, index.concepts[part], index.weights[part])
    writer.finish("five documents", {"most": 1000.0})
    return folder


def test_what_is_written_is_what_is_served(tmp_path: Path) -> None:
    served = open_index(written(tmp_path), verify=True)
    words = ["car", "vehicle", "sand", "éclair", "沙", "unheard"]
    ours, theirs = EsaRelatedness(INDEX), EsaRelatedness(served)
    assert np.array_equal(ours.relate(words, words), theirs.relate(words, words))
    assert theirs.concepts("wind") == ours.concepts("wind")
    assert not served.weights.flags.writeable
    assert isinstance(served.weights.base, np.memmap)
    manifest = read_manifest(tmp_path)
    assert (manifest.documents, manifest.terms) == (5, len(INDEX.terms))
    assert manifest.parameters == {"most": 1000.0}


def test_an_index_that_knows_nothing_can_be_served(tmp_path: Path) -> None:
    IndexWriter(tmp_path, [], [], [], []).finish("nothing", {})
    esa = EsaRelatedness(open_index(tmp_path, verify=True))
    assert esa.relate(["car"], ["car", "bus"]).tolist() == [[1.0, 0.0]]


def test_an_index_is_there_once_it_is_finished(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'a' comes after 'b'"):
        IndexWriter(tmp_path, ["b", "a"], [1.0, 1.0], [0, 0], [])
    writer = IndexWriter(tmp_path, ["a", "b"], [1.0, 1.0], [1, 1], ["one"])
    with pytest.raises(ValueError, match="term 1 has 0 concepts, not 1"):
        writer.place(1, np.empty(0, np.int32), np.empty(0, np.float32))
    with pytest.raises(IndexUnusable, match="not finished"):
        open_index(tmp_path)


@pytest.mark.parametrize("name", ARRAYS)
def test_a_file_that_is_missing_cut_or_changed_is_told(tmp_path: Path, name: str) -> None:
    path = written(tmp_path) / name
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    open_index(tmp_path)
    with pytest.raises(IndexDamaged, match="digest"):
        open_index(tmp_path, verify=True)
    path.write_bytes(whole[:-1])
    with pytest.raises(IndexDamaged, match="bytes, not"):
        open_index(tmp_path)
    path.unlink()
    with pytest.raises(IndexDamaged, match="missing"):
        open_index(tmp_path)


def test_another_version_or_something_else_is_refused(tmp_path: Path) -> None:
    text = (written(tmp_path) / MANIFEST).read_text()
    (tmp_path / MANIFEST).write_text(text.replace('"version": 1', '"version": 2'))
    with pytest.raises(IndexUnusable, match="of version 2"):
        open_index(tmp_path)
    (tmp_path / MANIFEST).write_text("[]")
    with pytest.raises(IndexUnusable, match="not that of an ESA index"):
        open_index(tmp_path)
    with pytest.raises(IndexUnusable, match="no ESA index"):
        open_index(tmp_path / "nowhere")


def test_sets_of_pairs_are_read_from_files_folders_and_archives(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("tiger\tcat\t7.35\ncar\tbus\t5\n")
    (tmp_path / "two.txt").write_text("# left,right,judged\ntiger,cat,7.35\n\ncar,bus,5\n")
    with tarfile.open(tmp_path / "sets.tgz", "w:gz") as archive:
        for name in ("two.txt", "one.txt"):
            archive.add(tmp_path / name, arcname=f"./{name}")
    pairs = [("tiger", "cat", 7.35), ("car", "bus", 5.0)]
    assert list(read_sets(tmp_path / "one.txt")) == [("one", pairs)]
    for path in (tmp_path, tmp_path / "sets.tgz"):
        assert list(read_sets(path)) == [("one", pairs), ("two", pairs)]


@pytest.mark.parametrize(
    ("text", "told"),
    [("tiger cat", "line 1: a line is two words and a number"), ("a b 1\na b x", "line 2"), ("a b 1", "has 1 pairs")],
)
def test_what_is_no_pair_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "pairs.txt"
    path.write_text(text)
    with pytest.raises(PairsUnreadable, match=told):
        list(read_sets(path))
    with pytest.raises(PairsUnreadable, match="cannot be read"):
        list(read_sets(tmp_path / "nowhere.txt"))
