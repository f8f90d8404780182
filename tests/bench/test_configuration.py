"""A benchmark as it is written: files over files, settings over both, and mistakes with their place."""

from pathlib import Path

import pytest

from tidings.bench import targets
from tidings.bench.configuration import BadBenchmark, LightingTest, UpdateTest, read, shipped
from tidings.bench.targets.kinds import make

ONE = """
name = "mine"
[targets.a]
kind = "tidings"
[tests.update]
kind = "update"
n_max = 500
"""


def file(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", shipped())
def test_every_benchmark_that_comes_with_the_suite_can_be_run_as_it_is(name: str) -> None:
    benchmark = read([name])
    assert benchmark.tests
    assert benchmark.about
    for target, settings in benchmark.targets.items():
        assert isinstance(make(target, settings).offers, targets.Offers)
    for test in benchmark.tests.values():
        assert set(test.targets) <= set(benchmark.targets)


def test_later_files_and_settings_win_member_by_member(tmp_path: Path) -> None:
    common = Path(file(tmp_path, "global.toml", 'iterations = 7\nseed = 1\n[targets.b]\nkind = "tidings-naive"\n'))
    first = file(tmp_path, "one.toml", ONE)
    second = file(tmp_path, "two.toml", "seed = 2\n[tests.update]\nstep = 100\nkind = 'update'\n")
    benchmark = read([first, second], settings=["tests.update.n_min=300", "about=a short word"], common=common)
    assert (benchmark.iterations, benchmark.seed, benchmark.about) == (7, 2, "a short word")
    assert list(benchmark.targets) == ["b", "a"]
    test = benchmark.tests["update"]
    assert isinstance(test, UpdateTest)
    assert (test.n_min, test.n_max, test.step) == (300, 500, 100)


def test_a_shipped_benchmark_can_be_changed_on_the_command_line() -> None:
    benchmark = read(["lighting"], settings=["tests.lighting.factor=0.01", 'tests.lighting.experiments=["LAMP"]'])
    test = benchmark.tests["lighting"]
    assert isinstance(test, LightingTest)
    assert (test.factor, test.experiments) == (0.01, ("LAMP",))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[targets.a]\nkind = 'tidings'\n[tests.u]\nkind = 'update'\nn_mx = 3\n", "tests.….*n_mx"),
        ("[targets.a]\nkind = 'tidings'\n[tests.u]\nkind = 'updte'\n", "updte"),
        ("[targets.a]\nkind = 'tidings'\n[tests.u]\nkind = 'update'\nn_min = 0\n", r"n_min: .*>= 1"),
        ("iterations = 'many'\n", "iterations: .*int"),
        ("seed = \n", "not TOML"),
        ("name = 'a b'\n", "name: "),
        ("tests = {}\n", "targets: at least one"),
    ],
)
def test_mistakes_are_told_with_file_and_key(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(BadBenchmark, match=told) as raised:
        read([file(tmp_path, "wrong.toml", text)])
    assert "wrong.toml" in str(raised.value)


def test_names_and_settings_that_nobody_knows_are_told() -> None:
    with pytest.raises(BadBenchmark, match="no benchmark of that name; there are chat"):
        read(["lightning"])
    with pytest.raises(BadBenchmark, match="must be KEY=VALUE"):
        read(["lighting"], settings=["tests.lighting.factor"])
    with pytest.raises(BadBenchmark, match="--set sead=3"):
        read(["lighting"], settings=["sead=3"])
