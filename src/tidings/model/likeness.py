"""What was probably meant by a name that nobody knows."""

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """What was probably meant."""
    from difflib import get_close_matches  # only who is mistaken waits for it

    by_core = {_core(other): other for other in known}
    found = get_close_matches(_core(name), by_core, 1, likeness)
    return by_core[found[0]] if found else None


def _core(name: str) -> str:
    """What all options have in common makes none of them like another."""
    return name.lower().lstrip("-")


def did_you_mean(names: Iterable[str], known: Iterable[str]) -> str:
    """`; did you mean --http-port?` for a message about some names, or nothing."""
    every = tuple(known)
    meant = dict.fromkeys(near for name in names if (near := nearest(name, every)) is not None)
    return f"; did you mean {', '.join(meant)}?" if meant else ""
