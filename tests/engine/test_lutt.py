"""The LUTT finds exactly the patterns that a quad matches, whoever came and went."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from strategies.data import EX, GRAPHS, PREDICATES, RESOURCES
from tidings.engine.lutt import Key, Lutt
from tidings.model.terms import Quad, Term, fold, is_tagged

_TERMS: tuple[Term, ...] = (*RESOURCES[:2], '"s"@en', '"s"@EN', '"s"')
keys: st.SearchStrategy[Key] = st.tuples(
    st.sampled_from((None, *RESOURCES[:2])),
    st.sampled_from((None, *PREDICATES[:2])),
    st.sampled_from((None, *_TERMS)),
    st.sampled_from((None, "", *GRAPHS, "<", f"<{EX}", f"<{EX}g")),
)
ALL_QUADS: list[Quad] = list(product(RESOURCES[:2], PREDICATES[:2], _TERMS, ("", *GRAPHS)))


def matches(key: Key, quad: Quad) -> bool:
    """Place by place; a variable graph is any but the default one, one without `>` is a prefix; tags have no case."""
    *terms, graph = key
    agree = all(term is None or folded(term) == folded(other) for term, other in zip(terms, quad[:3], strict=True))
    if graph is None:
        return agree and quad[3] != ""
    return agree and (quad[3].startswith(graph) if graph[:1] == "<" and graph[-1] != ">" else quad[3] == graph)


def folded(term: Term) -> Term:
    return fold(term) if is_tagged(term) else term


def found_by_force(entries: list[tuple[Key, int]]) -> dict[int, list[tuple[Quad, int]]]:
    found: dict[int, list[tuple[Quad, int]]] = {}
    for number in dict.fromkeys(number for _, number in entries):
        mine = [key for key, each in entries if each == number]
        if hit := [(quad, 1) for quad in ALL_QUADS if any(matches(key, quad) for key in mine)]:
            found[number] = sorted(hit)
    return found


def found_in(lutt: Lutt[int]) -> dict[int, list[tuple[Quad, int]]]:
    """What the LUTT finds; an entry under several patterns that a quad matches may be found as often."""
    hits = lutt.find([(quad, 1) for quad in ALL_QUADS])
    return {number: sorted(dict.fromkeys(found)) for number, found in hits.items()}


@settings(deadline=None)
@given(st.lists(st.tuples(keys, st.integers(0, 4)), max_size=12), st.data())
def test_the_lutt_finds_exactly_what_matches(entries: list[tuple[Key, int]], data: st.DataObject) -> None:
    lutt: Lutt[int] = Lutt()
    for many, (key, number) in enumerate(entries, 1):
        lutt.put(key, number)
        assert found_in(lutt) == found_by_force(entries[:many])
    leaving = data.draw(st.permutations(entries))
    while leaving:
        lutt.drop(*leaving.pop())
        assert found_in(lutt) == found_by_force(leaving)
    assert len(lutt) == 0
    assert lutt.find([(quad, 1) for quad in ALL_QUADS]) == {}
