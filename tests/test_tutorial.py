"""The tutorial works: every file it shows is saved, every command is run, and what it says is printed is printed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gates.wire import Broker, serving
from waiting import WHOLE

TUTORIAL = (Path(__file__).parents[1] / "docs/tutorial.md").read_text()
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# (\w+\.py)\n")


def blocks() -> list[tuple[str, str]]:
    return _BLOCK.findall(TUTORIAL)


def mended(text: str, broker: Broker) -> str:
    """The same text for a broker on other ports."""
    for port, other in ((8000, broker.http_port), (9000, broker.ws_port)):
        text = text.replace(f"localhost:{port}", f"127.0.0.1:{other}").replace(f'"port": {port}', f'"port": {other}')
    return text


def run(script: str, folder: Path, broker: Broker) -> str:
    paths = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    inherited = dict(os.environ)
    inherited.pop("PYTHONUNBUFFERED", None)  # or two programs would mix their lines: each end of a line is on its own
    done = subprocess.run(
        ["bash", "-ec", script],
        cwd=folder,
        env=inherited | {"PATH": paths, "TIDINGS_HTTP": broker.http, "TIDINGS_WS": broker.ws},
        capture_output=True,
        text=True,
        timeout=WHOLE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.server
def test_every_step_of_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    said: list[str] = []
    checked = 0
    with serving(tmp_path, "--memory") as broker:
        for kind, text in blocks():
            if kind == "python":
                name = _FILE.match(text)
                assert name, text
                (tmp_path / name[1]).write_text(mended(text, broker))
            elif kind == "json":
                (tmp_path / "greenhouse.jsap").write_text(mended(text, broker))
            elif kind == "sh":
                if "tidings serve" not in text and "mkdir" not in text:
                    said = run(text, tmp_path, broker).splitlines()
            else:
                shown = text.splitlines()
                assert [line for line in said if line in shown] == shown, said
                checked += 1
    assert checked == 4
