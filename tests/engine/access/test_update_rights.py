"""Updates with rights: WHERE sees what may be read; what may not be written is an error, and nothing is done."""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given

from strategies.access import only
from strategies.access import rights as random_rights
from strategies.data import PREFIX, datasets, ex
from strategies.updates import request, requests
from tidings.engine.engine import Engine
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.access import ALL_RIGHTS, Graphs, Rights
from tidings.model.errors import EvaluationError, GraphMissing, GraphNotWritable, LoadFailed, TidingsError
from tidings.model.terms import Quad, Triple
from tidings.model.zset import ZSet

A, B, P, G, H = map(ex, "abpgh")


def graphs(*names: str) -> Graphs:
    return Graphs(names=frozenset(names))


def carried_out(core: Core, text: str, rights: Rights = ALL_RIGHTS) -> ZSet[Quad] | TidingsError:
    try:
        return core.update(text, now=0, rights=rights)
    except TidingsError as error:
        return error


def shape(delta: ZSet[Quad], known: set[str]) -> Counter[tuple[object, ...]]:
    """A delta, with all blank nodes that are new as one."""
    return Counter(
        (*(t if t[:1] != "_" or t in known else "new" for t in quad), weight) for quad, weight in delta.items()
    )


@given(datasets, requests, random_rights)
def test_an_update_does_what_it_would_where_only_the_readable_graphs_are(
    quads: list[Quad], texts: list[str], rights: Rights
) -> None:
    """If it may write nothing that it may not read, so that the two stores differ in nothing that it could touch."""
    rights = Rights(rights.read, rights.write & rights.read)
    core = Core(Store(quads), random=Random(0))
    before = set(core.store)
    narrow = Core(only(core.store, rights.read), random=Random(0))
    text = request(texts)
    ours, theirs = carried_out(core, text, rights), carried_out(narrow, text)
    match ours, theirs:
        case GraphNotWritable(), _:
            assert set(core.store) == before
            assert ours.graph is None or not rights.write.has(ours.graph)
            assert rights.write != Graphs.ALL
        case TidingsError(), TidingsError():
            assert (type(ours), str(ours)) == (type(theirs), str(theirs))
            assert set(core.store) == before
        case ZSet(), ZSet():
            assert all(rights.write.has(quad[3]) for quad, _ in theirs.items())
            known = {term for quad in before for term in quad}
            assert shape(ours, known) == shape(theirs, known)
        case _:
            pytest.fail(f"{text}\n  {ours!r} and not {theirs!r}")


@given(datasets, requests, random_rights)
def test_nothing_is_ever_changed_that_may_not_be_written(quads: list[Quad], texts: list[str], rights: Rights) -> None:
    core = Core(Store(quads))
    before = set(core.store)
    outcome = carried_out(core, request(texts), rights)
    changed = before ^ set(core.store)
    assert all(rights.write.has(graph) for _, _, _, graph in changed)
    assert not isinstance(outcome, TidingsError) or not changed


@given(datasets, datasets, requests, random_rights)
def test_what_may_not_be_read_makes_no_difference_to_what_is_answered(
    quads: list[Quad], others: list[Quad], texts: list[str], rights: Rights
) -> None:
    """Two stores that agree in the readable graphs: the same error in the same words, or the same visible changes."""
    rights = Rights(rights.read, rights.write & rights.read)
    cores = [
        Core(Store([*(q for q in quads if rights.read.has(q[3])), *(q for q in hidden if not rights.read.has(q[3]))]))
        for hidden in (quads, others)
    ]
    text = request(texts)
    first, second = (carried_out(core, text, rights) for core in cores)
    assert str(first) == str(second) if isinstance(first, TidingsError) else isinstance(second, ZSet)
    seen = [sum(1 for quad in core.store if rights.read.has(quad[3])) for core in cores]
    assert seen[0] == seen[1]


READ_G_WRITE_H = Rights(read=graphs(G), write=graphs(H))
DATA = [(A, P, B, G), (A, P, B, H), (A, P, A, "")]


@pytest.mark.parametrize(
    ("text", "graph"),
    [
        ("INSERT DATA { :a :p :c }", ""),
        ("INSERT DATA { GRAPH :g { :a :p :c } }", G),
        ("INSERT DATA { GRAPH :g { :a :p :b } }", G),  # it is there already, which makes no difference
        ("DELETE DATA { GRAPH :g { :a :p :c } }", G),  # nor does it that it is not
        ("INSERT DATA { GRAPH :h { :a :p :c } GRAPH :nowhere { :a :p :c } }", ex("nowhere")),
        ("INSERT { GRAPH ?g { :a :p 1 } } WHERE { GRAPH ?g { :a :p :b } }", G),
        ("DELETE WHERE { GRAPH ?g { ?s ?p ?o } }", G),
        ("WITH :g DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }", G),
        ("CLEAR GRAPH :g", G),
        ("CLEAR SILENT GRAPH :g", G),
        ("DROP GRAPH :nowhere", ex("nowhere")),
        ("DROP SILENT DEFAULT", ""),
        ("CLEAR ALL", None),
        ("DROP SILENT ALL", None),
        ("CLEAR NAMED", None),
        ("CREATE GRAPH :g", G),
        ("CREATE SILENT GRAPH :nowhere", ex("nowhere")),
        ("COPY :h TO :g", G),
        ("ADD SILENT :g TO DEFAULT", ""),
        ("MOVE :g TO :h", G),  # which would empty the source
        ("LOAD <http://example.org/file> INTO GRAPH :g", G),
        ("LOAD SILENT <http://example.org/file>", ""),
        ("INSERT DATA { GRAPH :h { :a :p :c } } ; INSERT DATA { :a :p :c }", ""),
    ],
)
def test_what_may_not_be_written_is_an_error_and_nothing_is_done(text: str, graph: str | None) -> None:
    core = Core(Store(DATA), loader=unreachable)
    with pytest.raises(GraphNotWritable) as caught:
        core.update(PREFIX + text, now=0, rights=READ_G_WRITE_H)
    assert caught.value.graph == graph
    assert caught.value.status == 403
    assert set(core.store) == set(DATA)


def unreachable(source: str) -> Iterator[Triple]:
    raise AssertionError(f"{source} is fetched for somebody who may not write it")


@pytest.mark.parametrize(
    ("text", "added", "removed"),
    [
        ("INSERT { GRAPH :h { ?s :q ?o } } WHERE { GRAPH ?g { ?s :p ?o } }", [(A, ex("q"), B, H)], []),
        ("INSERT { GRAPH :h { ?s :q ?o } } WHERE { ?s :p ?o }", [], []),
        ("INSERT { GRAPH :h { ?s :q ?o } } USING :h WHERE { ?s :p ?o }", [], []),
        ("INSERT { GRAPH :h { ?s :q ?o } } USING NAMED :h WHERE { GRAPH ?g { ?s :p ?o } }", [], []),
        ("WITH :h INSERT { ?s :q ?o } WHERE { ?s :p ?o }", [], []),
        ("WITH :h DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }", [], []),
        ("WITH :h DELETE { :a :p :b } WHERE { GRAPH :g { :a :p :b } }", [], [(A, P, B, H)]),
        ("COPY :g TO :h", [], []),
        ("COPY DEFAULT TO :h", [], [(A, P, B, H)]),  # a default graph that may not be read is empty
        ("CLEAR GRAPH :h", [], [(A, P, B, H)]),
        ("CREATE GRAPH :h", [], []),  # as far as one may know, there is none
    ],
)
def test_the_pattern_of_an_update_sees_what_may_be_read(text: str, added: list[Quad], removed: list[Quad]) -> None:
    core = Core(Store(DATA))
    delta = core.update(PREFIX + text, now=0, rights=READ_G_WRITE_H)
    assert delta == ZSet.change(removed=removed, added=added)


def test_a_graph_that_may_not_be_read_cannot_be_copied_because_there_is_none() -> None:
    core = Core(Store(DATA))
    rights = Rights(read=graphs(G), write=graphs(G, H))
    for text in ("COPY :h TO :g", "ADD :h TO :g", "MOVE :h TO :g"):
        with pytest.raises(GraphMissing):
            core.update(PREFIX + text, now=0, rights=rights)
    assert not core.update(PREFIX + "COPY SILENT :h TO :g", now=0, rights=rights)


@pytest.mark.parametrize(
    ("write", "text", "left"),
    [
        (Graphs.ALL, "CLEAR ALL", set()),
        (Graphs(prefixes=("",)) | graphs(""), "CLEAR ALL", set()),
        (Graphs(prefixes=("",)), "DROP NAMED", {""}),
        (graphs(""), "CLEAR DEFAULT", {G, H}),
    ],
)
def test_who_may_write_every_graph_may_clear_them_all(write: Graphs, text: str, left: set[str]) -> None:
    core = Core(Store(DATA))
    core.update(text, now=0, rights=Rights(write=write))
    assert {quad[3] for quad in core.store} == left


def test_whoever_may_not_write_hears_so_before_anything_is_fetched() -> None:
    fetched: list[str] = []

    def fetch(source: str) -> Iterator[Triple]:
        fetched.append(source)
        return iter([(A, P, B)])

    core = Core(Store(), loader=fetch)
    text = "LOAD <http://example.org/file> INTO GRAPH <http://example.org/h>"
    with pytest.raises(GraphNotWritable):
        core.update(text, now=0, rights=Rights(write=graphs(G)))
    assert fetched == []
    assert core.update(text, now=0, rights=READ_G_WRITE_H) == ZSet.change(removed=(), added=[(A, P, B, H)])
    with pytest.raises(LoadFailed):
        Core(Store(), loader=lambda _: (_ for _ in ()).throw(EvaluationError("no"))).update(text, now=0)


def test_one_template_serves_everybody_with_a_plan_for_each_set_of_graphs() -> None:
    engine = Engine()
    engine.apply(PREFIX + "INSERT DATA { GRAPH :g { :a :p 1 } GRAPH :h { :a :p 2 } }", now=0)
    text = PREFIX + "INSERT { ?s :q ?o } WHERE { GRAPH ?g { ?s :p ?o } }"
    found = []
    for read in (graphs(G), graphs(H), Graphs.NONE, Graphs.ALL, graphs(G)):
        commit = engine.apply(text, now=0, rights=Rights(read=read, write=graphs("")))
        found.append(len(commit.delta))
        engine.apply("CLEAR DEFAULT", now=0)
    assert found == [1, 1, 0, 2, 1]
