"""Checks WordNet and the Moby Thesaurus. Matching works without them, unless the settings name one that cannot be
read."""

from collections.abc import Callable
from pathlib import Path

from tidings.cli.doctor.finding import Finding
from tidings.lexicons.errors import MobyMissing, WordNetMissing
from tidings.lexicons.moby.finding import how_to_get_moby, moby_file
from tidings.lexicons.wordnet.finding import how_to_get_wordnet, wordnet_folder


def check_wordnet(named: str | None = None) -> Finding:
    return _check("WordNet", wordnet_folder, named, "synonyms and opposites", how_to_get_wordnet)


def check_moby(named: str | None = None) -> Finding:
    return _check("Moby Thesaurus", moby_file, named, "synonyms", how_to_get_moby)


def _check(
    name: str, find: Callable[[Path | None], Path], named: str | None, known: str, how_to_get: Callable[[], str]
) -> Finding:
    try:
        place = find(None if named is None else Path(named))
    except (WordNetMissing, MobyMissing) as error:
        if named is not None:
            return Finding(name, "problem", str(error), f"name another place, or none; {how_to_get()}")
        return Finding(name, "note", f"not found; approximate matching knows fewer {known} without it", how_to_get())
    return Finding(name, "ok", f"in {place}")
