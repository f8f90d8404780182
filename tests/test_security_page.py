"""What docs/security.md shows works: a broker with security, with and without TLS, and every command for it."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gates.wire import announced
from ports import free_ports
from tidings.cli import command
from waiting import WHOLE

PAGE = (Path(__file__).parents[1] / "docs/security.md").read_text()
_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
DEFAULTS = (8000, 9000, 8443, 9443)


def blocks(section: str) -> list[str]:
    text = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (found,) = (part for part in text if part.startswith(f"{section}\n"))
    return _BLOCK.findall(found)


class Windows:
    """Two windows in one folder: the broker runs in the first one, its clients in the second."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ports = dict(zip(DEFAULTS, free_ports(len(DEFAULTS)), strict=True))
        names = ("HTTP_PORT", "WS_PORT", "HTTPS_PORT", "WSS_PORT")
        self._environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "XDG_CONFIG_HOME": str(folder / "config"),
            "TIDINGS_HTTP": f"http://localhost:{self._ports[8000]}",
            **{f"TIDINGS_{name}": str(port) for name, port in zip(names, self._ports.values(), strict=True)},
        }

    def mended(self, text: str) -> str:
        """The same text for a broker on other ports."""
        for port, other in self._ports.items():
            text = text.replace(f"localhost:{port}", f"localhost:{other}")
        return text

    @contextmanager
    def serving(self, block: str) -> Iterator[None]:
        """The last line of a block is the broker; those before it come first."""
        *before, serve = block.rstrip("\n").split("\n")
        assert serve.startswith("tidings serve")
        self.run("\n".join(before))
        program = ["bash", "-c", f"exec {serve}"]
        with subprocess.Popen(
            program, cwd=self._folder, env=self._environment, stdout=subprocess.PIPE, text=True
        ) as process:
            try:
                announced(process)
                yield
            finally:
                process.kill()

    def run(self, script: str) -> list[str]:
        done = subprocess.run(
            ["bash", "-ec", self.mended(script)],
            cwd=self._folder, env=self._environment, capture_output=True, text=True, timeout=WHOLE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "error" not in done.stderr
        return done.stdout.splitlines()


@pytest.mark.server
def test_every_line_about_switching_it_on_and_about_tls_works(tmp_path: Path) -> None:
    windows = Windows(tmp_path)
    serve, commands, for_others = blocks("Switching it on")
    with windows.serving(serve):
        said = windows.run(commands)
        login = said[0]
        assert login.startswith("logged in to http://localhost:")
        assert any(line.startswith("+") and "40" in line for line in said), said
        assert '"value":"urn:lamp:1"' in said[-1].replace(" ", "")
        files = list((tmp_path / "config").rglob("*.json"))
        assert [file.stat().st_mode & 0o777 for file in files] == [0o600]
        assert windows.run("tidings query 'ASK { <urn:lamp:1> <urn:power> 40 }'")[-1] == "true"
    options = shlex.split(for_others, comments=True)[2:]  # not run here: it listens everywhere
    assert command("serve").parser().parse_args(options).security == "security.toml"
    serve, commands = blocks("TLS")
    with windows.serving(serve):
        said = windows.run(commands)
        assert any(line.startswith("+") and "40" in line for line in said), said
        assert said[-1].startswith("admin is logged out of https://localhost:")
        assert len(list((tmp_path / "config").rglob("*.json"))) == 1
