"""An ESA index built on Spark is what the formulas say, whatever happens on the way."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from lexicons.test_wordnet import small_wordnet
from matching.small_index import indexed
from spark.dumps import dump, multistream, page
from tidings.cli.commands.data import esa as command
from tidings.lexicons.esa.folder import open_index, read_manifest
from tidings.matching.esa.related import EsaRelatedness
from tidings.spark.errors import LakeInUse
from tidings.spark.esa.build import Build, Parameters, Progress
from tidings.spark.esa.counting import count
from tidings.spark.esa.errors import BuildForeign, DumpDamaged, NothingToIndex
from tidings.spark.esa.postings import frequencies, vocabulary
from tidings.spark.esa.sources import Wiki
from tidings.spark.esa.wikitext import spoken
from tidings.spark.lock import locked
from tidings.spark.session import translated

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("unhurried")]
CHANCE = random.Random(7)
WORDS = [a + b for a in ("par", "veh", "win", "san", "tem", "cit", "éc", "沙") for b in ("ka", "lo", "mu", "ri", "tse")]
TEXTS = ["'''Car''' [[road|way]] {{cite|x}} " + " ".join(CHANCE.choices(WORDS, k=30)) for _ in range(40)]
ODD = [page(900, "Redirect", "", redirect="x"), page(901, "Talk", "words", space=1), page(902, "Short", "parka")]
PAGES = [*(page(number + 1, f"document {number}", text) for number, text in enumerate(TEXTS)), *ODD]
EXACT = Parameters(shortest=3, rarest=1, commonest=1.0, most=7)


class Killed(Exception):
    pass


def test_a_killed_build_goes_on_and_equals_the_formulas(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(multistream(PAGES, 10))
    wiki = Wiki([path], packed=600)
    told: list[Progress] = []

    def dies(progress: Progress) -> None:
        told.append(progress)
        if progress.done == 2:
            raise Killed

    out = tmp_path / "esa"
    with pytest.raises(Killed):
        Build(spark, wiki, out, EXACT, dies, round_pieces=2).run()
    first = {each.name for each in (out / "counts").iterdir()}
    made = Build(spark, wiki, out, EXACT, told.append, round_pieces=3).run()  # as with more cores
    assert len(first) == 4
    assert [each.done for each in told if each.stage == "reading"] == [1, 2, 1, 2, 3]
    assert told[-1].tally == {
        "pages": 43, "kept": 40, "redirects": 1, "in other namespaces": 1, "too short": 1,
    }  # fmt: skip
    expected = indexed([spoken(text) for text in TEXTS], most=7)
    served = open_index(out, verify=True)
    assert made == read_manifest(out) == Build(spark, wiki, out, EXACT).run()  # which is there already
    ours, theirs = EsaRelatedness(served), EsaRelatedness(expected)
    known = [word for word in WORDS if theirs.concepts(word)]
    assert len(known) > 30
    assert np.allclose(ours.relate(known, known), theirs.relate(known, known), atol=1e-6)
    for one, other in zip(ours.concepts(known[0], 7), theirs.concepts(known[0], 7), strict=True):
        assert one.title == other.title
        assert one.weight == pytest.approx(other.weight)
    assert not (out / "counts").exists()
    with pytest.raises(BuildForeign, match="other parameters"):
        Build(spark, wiki, out, Parameters(shortest=4, rarest=1)).run()
    with locked(out), pytest.raises(LakeInUse):
        Build(spark, wiki, out, EXACT).run()


def test_spark_and_this_process_find_the_same_frequencies(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(multistream(PAGES, 10))
    found = count(spark, Wiki([path], packed=600).pieces(), tmp_path, shortest=3, lenient=False)
    files = [tmp_path / each.file for each in found]
    here, there = (frequencies(spark, files, 2, 30.0, here=most).sort_by("term") for most in (10_000, 10))
    assert len(here) > 20
    assert here.to_pydict() == there.to_pydict()
    words = vocabulary(here, 40, 15)
    assert words["id"].to_pylist() == list(range(15))
    assert min(words["df"].to_pylist()) >= sorted(here["df"].to_pylist())[-15]


def test_a_damaged_dump_is_told_unless_somebody_is_lenient(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(multistream(PAGES, 10)[:-300])
    with pytest.raises(DumpDamaged, match="is cut off"), translated():
        Build(spark, Wiki([path]), tmp_path / "strict", EXACT).run()
    lenient = Parameters(shortest=3, rarest=1, commonest=1.0, lenient=True)
    made = Build(spark, Wiki([path]), tmp_path / "lenient", lenient).run()
    assert 0 < made.documents < 40
    whole = tmp_path / "dump.xml"
    whole.write_bytes(dump(PAGES))
    with pytest.raises(NothingToIndex, match="1000 different words"):
        Build(spark, Wiki([whole]), tmp_path / "none", Parameters(shortest=1000, rarest=1)).run()
    with pytest.raises(BuildForeign, match="no build"):
        Build(spark, Wiki([whole]), tmp_path, EXACT).run()


def test_the_command_line_from_wordnet_to_relatedness(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def call(*words: object) -> str:
        assert command.run(command.parser().parse_intermixed_args([str(word) for word in words])) == 0
        return capsys.readouterr().out

    folder, out = small_wordnet(tmp_path / "dict"), tmp_path / "esa"
    call("build", "wordnet", "--wordnet", folder, "--out", out, "--commonest", "1")
    told = json.loads(call("relate", "motor vehicle", "conveyance", "--index", out, "--json"))
    assert told["relatedness"] > 0.5
    assert told["because"][0]["title"].startswith(("car (", "vehicle ("))
    assert "not in the index: xyzzi" in call("relate", "car", "xyzzy", "--index", out)
    (tmp_path / "pairs.txt").write_text("car\tcars\t9\ncar\tmotion\t1\ncar\txyzzy\t0\n")
    (found,) = json.loads(call("evaluate", tmp_path / "pairs.txt", "--index", out, "--json"))
    assert found["pairs"] == 3
    assert found["unknown"] == 1
    assert "spearman" in call("evaluate", tmp_path / "pairs.txt", "--index", out)
    assert "WordNet" in call("info", "--index", out, "--verify")
