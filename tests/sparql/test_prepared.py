"""A text of a known kind, with other constants, means what it would have meant had it been the first."""

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracles.oxigraph import Row, canonical
from strategies.data import EX, datasets
from strategies.queries import selects
from strategies.updates import request, requests
from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.errors import SparqlSyntaxError, TidingsError
from tidings.model.results import Solutions
from tidings.model.terms import Quad
from tidings.sparql.prepared import OFTEN

SETTINGS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
TIMES = st.sampled_from([1, OFTEN + 1])
"""How often a like has come before: in the end, it is known by its wording."""
_TURN = {"a": "b", "b": "c", "c": "a", "p": "q", "q": "r", "r": "p", "g": "h", "h": "g"}


def turned(text: str) -> str:
    """The same kind of text with every constant another one."""
    text = re.sub(rf"<{EX}(\w)>", lambda found: f"<{EX}{_TURN[found[1]]}>", text)
    return text.replace('"s"', '"t"').replace('"1"', '"7"')


def rows(core: Core, text: str) -> list[Row]:
    result = core.query(text, now=0)
    assert isinstance(result, Solutions)
    return list(result.rows)


@SETTINGS
@given(datasets, selects(), TIMES)
def test_a_query_is_not_confused_with_its_like(quads: list[Quad], text: str, times: int) -> None:
    seasoned = Core(Store(quads))
    for _ in range(times):
        rows(seasoned, turned(text))
    assert sorted(map(repr, rows(seasoned, text))) == sorted(map(repr, rows(Core(Store(quads)), text)))


def attempt(core: Core, text: str) -> type[TidingsError] | None:
    try:
        core.update(text, now=0)
    except TidingsError as error:
        return type(error)
    return None


@SETTINGS
@given(datasets, requests, TIMES)
def test_an_update_is_not_confused_with_its_like(quads: list[Quad], texts: list[str], times: int) -> None:
    text = request(texts)
    seasoned, fresh = Core(Store(quads)), Core(Store(quads))
    for _ in range(times):
        attempt(seasoned, turned(text))
    for quad in list(seasoned.store):
        seasoned.store.remove(*quad)
    for quad in quads:
        seasoned.store.add(*quad)
    assert attempt(seasoned, text) == attempt(fresh, text)
    assert canonical(seasoned.store) == canonical(fresh.store)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("SELECT (1 -5 AS ?x) {}", "SELECT (1 5 AS ?x) {}"),
        ("SELECT * { ?s <urn:p> 1 }", "SELECT * { ?s 1 1 }"),
        ("SELECT * { ?s ?p 'a' }", "SELECT * { ?s ?p 'a\\q' }"),
        ("PREFIX a: <urn:> SELECT * { ?s ?p a:x }", "PREFIX a: <urn:> SELECT * { ?s ?p b:x }"),
        ("SELECT * {} LIMIT 1", "SELECT * {} LIMIT 1.5"),
    ],
)
def test_a_text_that_only_looks_alike_is_still_refused(first: str, second: str) -> None:
    core = Core()
    rows(core, first)
    with pytest.raises(SparqlSyntaxError):
        core.query(second, now=0)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("SELECT (1 -5 AS ?x) {}", "SELECT (1 -7 AS ?x) {}", '"-6"'),
        ("SELECT (1 + 5 AS ?x) {}", "SELECT (2 + 5.5 AS ?x) {}", '"7.5"'),
        ("SELECT ('a'@en AS ?x) {}", "SELECT ('b'@en AS ?x) {}", '"b"@en'),
        ("SELECT ('a'@en AS ?x) {}", "SELECT ('a'@fr AS ?x) {}", '"a"@fr'),
        ("SELECT ('a' AS ?x) {}", "SELECT ('a'@fr AS ?x) {}", '"a"@fr'),
        ("SELECT ('1'^^<urn:t> AS ?x) {}", "SELECT ('1'^^<urn:u> AS ?x) {}", '"1"^^<urn:u>'),
        ("SELECT (<urn:a> AS ?x) {}", "SELECT ('''b\"''' AS ?x) {}", '"b\\""'),
        ("BASE <http://a/> SELECT (<x> AS ?x) {}", "BASE <http://b/> SELECT (<x> AS ?x) {}", "<http://b/x>"),
        ("PREFIX p: <urn:a> SELECT (p:x AS ?x) {}", "PREFIX p: <urn:b> SELECT (p:x AS ?x) {}", "<urn:bx>"),
        ("SELECT * { VALUES ?x { 1 2 } } LIMIT 1", "SELECT * { VALUES ?x { 3 4 } } LIMIT 1", '"3"'),
        ("SELECT * { VALUES ?x { 1 2 } } OFFSET 0", "SELECT * { VALUES ?x { 3 4 } } OFFSET 1", '"4"'),
        ("SELECT (STR(<urn:a>) AS ?x) {}", "SELECT (STR(<urn:b>) AS ?x) {}", '"urn:b"'),
    ],
)
def test_the_second_of_a_kind_has_its_own_constants(first: str, second: str, expected: str) -> None:
    core = Core()
    rows(core, first)
    ((term,),) = rows(core, second)
    assert term is not None
    assert term.startswith(expected)


def test_prefixes_may_change_between_operations() -> None:
    core = Core()
    text = "PREFIX p: <urn:1:> INSERT DATA {{ p:{0} p:b p:c }} ; PREFIX p: <urn:2:> INSERT DATA {{ p:{0} p:b p:c }}"
    core.update(text.format("a"), now=0)
    delta = core.update(text.format("z"), now=0)
    assert {quad[0] for quad in delta.added()} == {"<urn:1:z>", "<urn:2:z>"}


def test_blank_nodes_of_two_requests_are_never_the_same() -> None:
    core = Core()
    for value in (1, 2):
        core.update(f"INSERT DATA {{ _:b <urn:p> {value} }}", now=0)
    assert len({quad[0] for quad in core.store}) == 2


@pytest.mark.parametrize("condition", ["?p = :q", "?s = :a && ?p = :q", "sameTerm(?p, :q)", "?p = :q && ?o = :b"])
def test_a_condition_on_a_predicate_is_met_by_texts_that_share_their_template(condition: str) -> None:
    core = Core(base="http://e/")
    core.update("PREFIX : <http://e/> INSERT DATA { :a :p :b . :a :q :b . :c :q :b }", now=0)
    text = f"PREFIX : <http://e/> SELECT ?s ?p {{ ?s ?p ?o FILTER({condition}) }}"
    expected = {("<http://e/a>", "<http://e/q>")} | (set() if "?s" in condition else {("<http://e/c>", "<http://e/q>")})
    for _ in range(2):  # read for the first time, and from its template
        result = core.query(text, now=0)
        assert isinstance(result, Solutions)
        assert set(result.rows) == expected
