"""Suggests known names for an unknown name."""

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known name that is most similar to a name; None if none is similar enough."""
    from difflib import get_close_matches  # imported only for an unknown name, because it takes time

    by_core = {_core(other): other for other in known}
    found = get_close_matches(_core(name), by_core, 1, likeness)
    return by_core[found[0]] if found else None


def _core(name: str) -> str:
    """A name without the dashes that all options begin with: they say nothing about similarity."""
    return name.lower().lstrip("-")


def did_you_mean(names: Iterable[str], known: Iterable[str]) -> str:
    """`; did you mean --http-port?` for a message about some names, or nothing."""
    every = tuple(known)
    meant = dict.fromkeys(near for name in names if (near := nearest(name, every)) is not None)
    return f"; did you mean {', '.join(meant)}?" if meant else ""
