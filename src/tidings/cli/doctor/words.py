"""What is known about words besides their vectors: WordNet, and the Moby Thesaurus."""

from pathlib import Path

from tidings.cli.doctor.finding import Finding
from tidings.lexicons.errors import MobyMissing, WordNetMissing
from tidings.lexicons.moby.finding import how_to_get_moby, moby_file
from tidings.lexicons.wordnet.finding import how_to_get_wordnet, wordnet_folder


def check_wordnet(named: str | None = None) -> Finding:
    """Matching works without it, unless a folder of it is named that is none."""
    try:
        folder = wordnet_folder(None if named is None else Path(named))
    except WordNetMissing as error:
        if named is not None:
            return Finding("WordNet", "problem", str(error), f"name another folder, or none; {how_to_get_wordnet()}")
        found = "not found; approximate matching knows fewer synonyms and opposites without it"
        return Finding("WordNet", "note", found, how_to_get_wordnet())
    return Finding("WordNet", "ok", f"in {folder}")


def check_moby(named: str | None = None) -> Finding:
    """The same for the Moby Thesaurus."""
    try:
        path = moby_file(None if named is None else Path(named))
    except MobyMissing as error:
        if named is not None:
            return Finding("Moby Thesaurus", "problem", str(error), f"name another file, or none; {how_to_get_moby()}")
        found = "not found; approximate matching knows fewer synonyms without it"
        return Finding("Moby Thesaurus", "note", found, how_to_get_moby())
    return Finding("Moby Thesaurus", "ok", f"in {path.parent}")
