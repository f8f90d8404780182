"""Finds the file of the Moby Thesaurus, which is not a part of Tidings."""

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from tidings.extras import tool
from tidings.lexicons.errors import MobyMissing

_FILE = "words.txt"
_NPM = "node_modules/moby"


def moby_file(named: Path | None = None) -> Path:
    """The file: the named one, or that in one of the folders of set-up and packages. Raises MobyMissing."""
    for path in [named] if named is not None else _candidates():
        if path.is_file():
            return path
    if named is not None:
        raise MobyMissing(f"there is no file {named}")
    raise MobyMissing(f"no Moby Thesaurus was found here: {how_to_get_moby()}")


def how_to_get_moby() -> str:
    """The command that installs the Moby Thesaurus for this Python."""
    share = shlex.quote(str(Path(sys.prefix, "share")))
    return tool("moby") or f"npm install --prefix {share} --ignore-scripts moby, or name its {_FILE}"


def _candidates() -> Iterator[Path]:
    share = Path(sys.prefix, "share")
    yield share / "moby" / _FILE
    yield share / _NPM / _FILE
    yield Path("/usr/share/moby", _FILE)
    yield Path("/usr/local/share/moby", _FILE)
