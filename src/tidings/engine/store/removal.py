"""Prepares what a large delta removes: for each dict of an index, the keys to delete, and the values left under others.

This is worked out in portions from the present indexes, which must not change until it is carried out. Carrying it out
then takes as long as `dict.__delitem__` for each key, and one `dict.update`.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from tidings.engine.leaves import Leaf, put, size_of, values_of
from tidings.engine.store.graph import GraphIndex, Leaves
from tidings.model.terms import Term

SMALL = 64
"""A leaf of at most so many values is replaced by a copy without the removed ones; a larger one is changed in place."""


class Loss:
    """What is removed from a dict."""

    __slots__ = ("keys", "large", "left")

    def __init__(self) -> None:
        self.keys: list[Term] = []
        """The keys to delete, with everything under them."""
        self.left: dict[Term, Any] = {}
        """Keys that stay, with the values that are left under them."""
        self.large: list[tuple[dict[Term, int], Iterable[Term]]] = []
        """Large leaves, with the values to delete from each."""

    def less(self, leaf: Leaf[Term], gone: Leaf[Term]) -> Leaf[Term] | None:
        """A leaf without some of its values; None if none is left."""
        count = 1 if type(leaf) is str else len(leaf)
        rest = count - size_of(gone)
        if not rest:
            return None
        assert isinstance(leaf, dict)
        going = values_of(gone)
        if rest > 1 and count > SMALL:
            self.large.append((leaf, going))
            return leaf
        kept = [value for value in leaf if value not in going]
        return kept[0] if rest == 1 else dict.fromkeys(kept, 1)

    def take(self, leaves: Leaves, key: Term, gone: Leaf[Term]) -> bool:
        """Note that values are removed from under a key. Returns whether the key is deleted with them."""
        rest = self.less(leaves[key], gone)
        if rest is None:
            self.keys.append(key)
            return True
        self.left[key] = rest
        return False

    def carry_out(self, lost_by: dict[Term, Any]) -> None:
        _exhaust(map(lost_by.__delitem__, self.keys))
        lost_by.update(self.left)
        for leaf, going in self.large:
            _exhaust(map(leaf.__delitem__, going))


class GraphRemoval:
    """What is removed from one graph: the triples of another index."""

    __slots__ = ("_graph", "_lost_subjects", "_removed", "objects", "pos", "predicates", "spo")

    def __init__(self, graph: GraphIndex, removed: GraphIndex) -> None:
        self._graph = graph
        self._removed = removed
        self.spo = Loss()
        self.pos: dict[Term, Loss] = {}
        self.objects = Loss()
        self.predicates: list[Term] = []
        """The predicates of which no triple is left."""
        self._lost_subjects: dict[Term, int] = {}

    def steps(self) -> Iterator[None]:
        """Work it out, one key at a step."""
        graph, removed = self._graph, self._removed
        for s, gone in removed.spo.items():
            self._take_subject(s, graph.spo[s], gone)
            yield
        last_uses: Leaves = {}
        for p, by_object in removed.pos.items():
            there, loss = graph.pos[p], Loss()
            for o, subjects in by_object.items():
                if loss.take(there, o, subjects):
                    put(last_uses, o, p)
                yield
            self.pos[p] = loss
            if len(loss.keys) == len(there):
                self.predicates.append(p)
        for o, predicates in last_uses.items():
            self.objects.take(graph.op, o, predicates)
            yield

    def _take_subject(self, s: Term, facts: Leaves, gone: Leaves) -> None:
        rest, lost = dict(facts), self._lost_subjects
        for p, objects in gone.items():
            leaf = self.spo.less(facts[p], objects)
            if leaf is None:
                del rest[p]
                lost[p] = lost.get(p, 0) + 1
            else:
                rest[p] = leaf
        if rest:
            self.spo.left[s] = rest
        else:
            self.spo.keys.append(s)

    def gone(self) -> tuple[list[Term], list[Term], list[Term]]:
        """The terms that the graph no longer has as subject, as predicate, and as object."""
        return self.spo.keys, self.predicates, self.objects.keys

    def carry_out(self) -> int:
        """Remove the triples. Returns how many they are."""
        graph, removed = self._graph, self._removed
        self.spo.carry_out(graph.spo)
        for p, loss in self.pos.items():
            loss.carry_out(graph.pos[p])
            graph.sizes[p] -= removed.sizes[p]
        for p, count in self._lost_subjects.items():
            graph.subjects_of[p] -= count
        for p in self.predicates:
            del graph.pos[p], graph.sizes[p], graph.subjects_of[p]
        self.objects.carry_out(graph.op)
        return len(removed)


def _exhaust(calls: Iterable[None]) -> None:
    deque(calls, maxlen=0)
