"""Histories of commits: what a store lives through while subscriptions watch it.

A step adds a quad, or removes one of those that are there by its number. Steps of one commit may undo each other.
"""

from collections.abc import Sequence
from typing import TypeAlias

from hypothesis import strategies as st

from strategies.data import BLANKS, GRAPHS, NUMBERS, PREDICATES, RESOURCES
from tidings.engine.store.store import Store
from tidings.model.terms import Quad
from tidings.model.zset import ZSet

Step: TypeAlias = Quad | int
Steps: TypeAlias = Sequence[Step]

_OBJECTS = (*RESOURCES, *RESOURCES, BLANKS[0], *NUMBERS, '"s"', '"s"@en', '"s"@EN')

quads: st.SearchStrategy[Quad] = st.tuples(
    st.sampled_from((*RESOURCES, *RESOURCES, BLANKS[0])),
    st.sampled_from((*PREDICATES[:2], *PREDICATES)),
    st.sampled_from(_OBJECTS),
    st.sampled_from(("", "", *GRAPHS)),
)
steps: st.SearchStrategy[Step] = st.one_of(quads, quads, st.integers(0, 40))
commits: st.SearchStrategy[list[Step]] = st.lists(steps, min_size=1, max_size=6)
histories: st.SearchStrategy[list[list[Step]]] = st.lists(commits, min_size=3, max_size=10)


def net_delta(store: Store, commit: Steps) -> ZSet[Quad]:
    """What the steps of one commit change between them, quads spelled as the store would."""
    before = dict.fromkeys(store)
    after = dict(before)
    for step in commit:
        if not isinstance(step, int):
            spelled = store.spelled([*after, step])
            after = dict.fromkeys(spelled)
        elif after:
            del after[list(after)[step % len(after)]]
    return ZSet.change(removed=before.keys() - after.keys(), added=after.keys() - before.keys())
