"""The leaves of indexes: most keys have one value, so a leaf is that value itself, and a dict only from the second on.

This takes a quarter of the memory of a set for each key, and replacing a value only changes its slot. `put` and `drop`
treat leaves as sets; `put_again` and `drop_once` treat them as bags, which count how often a value was put. A value
must not be a dict, nor None.
"""

from collections.abc import Hashable, Iterable
from typing import TypeAlias, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V", bound=Hashable)

Leaf: TypeAlias = V | dict[V, int]
"""One value that was put once, or a dict of values with their counts."""


def put(leaves: dict[K, Leaf[V]], key: K, value: V) -> bool:
    """Add a value under a key. Returns whether it is new there."""
    leaf = leaves.get(key)
    if leaf is None:
        leaves[key] = value
    elif type(leaf) is not dict:
        if leaf == value:
            return False
        leaves[key] = {leaf: 1, value: 1}  # type: ignore[dict-item]  # type() narrows one way only
    elif value in leaf:
        return False
    else:
        leaf[value] = 1
    return True


def drop(leaves: dict[K, Leaf[V]], key: K, value: V) -> bool:
    """Remove a value from under a key. Returns whether it was there."""
    leaf = leaves.get(key)
    if leaf is None:
        return False
    if type(leaf) is not dict:
        if leaf != value:
            return False
        del leaves[key]
        return True
    if value not in leaf:
        return False
    del leaf[value]
    if len(leaf) == 1:
        leaves[key] = next(iter(leaf))
    return True


def put_all(leaves: dict[K, Leaf[V]], more: dict[K, Leaf[V]]) -> None:
    """Add the values of other leaves; `more` must not be used afterwards."""
    for key in leaves.keys() & more.keys():
        mine, theirs = leaves[key], more.pop(key)
        if type(mine) is dict:
            mine.update(dict.fromkeys(values_of(theirs), 1))
        elif mine != theirs:
            leaves[key] = {mine: 1, **dict.fromkeys(values_of(theirs), 1)}  # type: ignore[dict-item]  # as in `put`
    leaves.update(more)


def put_again(leaves: dict[K, Leaf[V]], key: K, value: V) -> None:
    """Add a value under a key, once more if it is there already."""
    leaf = leaves.get(key)
    if leaf is None:
        leaves[key] = value
    elif isinstance(leaf, dict):
        leaf[value] = leaf.get(value, 0) + 1
    elif leaf == value:
        leaves[key] = {value: 2}
    else:
        leaves[key] = {leaf: 1, value: 1}


def drop_once(leaves: dict[K, Leaf[V]], key: K, value: V) -> None:
    """Remove a value from under a key once. It must be there."""
    leaf = leaves[key]
    if not isinstance(leaf, dict):
        del leaves[key]
        return
    leaf[value] -= 1
    if not leaf[value]:
        del leaf[value]
    if not leaf:
        del leaves[key]


def values_of(leaf: Leaf[V] | None) -> Iterable[V]:
    """The values of a leaf, each once."""
    if leaf is None:
        return ()
    return leaf if type(leaf) is dict else (leaf,)  # type: ignore[return-value]  # isinstance takes half as long again


def size_of(leaf: Leaf[V] | None) -> int:
    """How many different values a leaf has."""
    if leaf is None:
        return 0
    return len(leaf) if type(leaf) is dict else 1
