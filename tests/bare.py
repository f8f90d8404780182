"""A Python that has only some of what this one has installed: as after `pip install tidings`, or with some extras.

what Tidings asks for, and what that asks for, and so on  ->  a folder of links, in the place of site-packages
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import tidings
from waiting import PATIENCE

SOURCE = Path(tidings.__file__).parents[1]
ALONE = ("-S",)
"""For Python: without its own site-packages."""


def furnish(folder: Path, *extras: str, without: str = "") -> Path:
    """Link what Tidings needs, with these extras, into a folder; `without` is a package to leave out."""
    folder.mkdir()
    for each in _needed("tidings", extras, {}).values():
        if each.name == without:
            continue
        for name in {file.parts[0] for file in each.files or () if file.parts[0] not in {"..", "__pycache__"}}:
            (folder / name).symlink_to(Path(str(each.locate_file(name))))
    return folder


def _needed(name: str, extras: tuple[str, ...], found: dict[str, Distribution]) -> dict[str, Distribution]:
    """A package and all that it asks for here."""
    found[canonicalize_name(name)] = distribution(name)
    for text in distribution(name).requires or ():
        each = Requirement(text)
        wanted = each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in (*extras, ""))
        if wanted and canonicalize_name(each.name) not in found:
            _needed(each.name, tuple(each.extras), found)
    return found


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (folder, SOURCE)))}


def run(folder: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run this Python with what is in a folder, and nothing else."""
    return subprocess.run(
        [sys.executable, *ALONE, *arguments],
        cwd=cwd, env=environment(folder), capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip


def lines(done: subprocess.CompletedProcess[str]) -> Iterator[str]:
    """What was said, if all went well."""
    assert done.returncode == 0, done.stderr
    yield from done.stdout.splitlines()
