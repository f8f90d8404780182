"""Variables bound to terms: whatever the value is, the shape of the request stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.engine.updates.executor import Core
from tidings.model.errors import BadRequest, SparqlSyntaxError
from tidings.model.terms import Term, escape

LAMP = "<http://example.org/lamp>"
DIMMING = "<http://example.org/dimming>"
REPLACE = f"DELETE {{ ?lamp {DIMMING} ?old }} INSERT {{ ?lamp {DIMMING} ?new }} WHERE {{ ?lamp {DIMMING} ?old }}"


def core() -> Core:
    core = Core(base="http://example.org/")
    core.update(f'INSERT DATA {{ {LAMP} {DIMMING} "0" . <http://example.org/other> {DIMMING} "0" }}', now=0)
    return core


def values(core: Core) -> dict[Term, Term]:
    return {s: o for s, _, o, _ in core.store}


@pytest.mark.parametrize("value", ['"100"', '"été"@fr', '"5"^^<http://www.w3.org/2001/XMLSchema#integer>', LAMP])
def test_a_bound_variable_is_the_term_that_was_given(value: Term) -> None:
    store = core()
    template = store.prepare_template(REPLACE)
    assert template.variables == ("lamp", "old", "new")
    for _ in range(2):  # the second time no text is read
        store.execute(*template.bind({"lamp": LAMP, "new": value}), now=1)
        assert values(store)[LAMP] == value
        assert values(store)["<http://example.org/other>"] == '"0"'


@given(st.text())
def test_no_value_can_change_the_shape_of_the_request(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    store = core()
    template = store.prepare_template(REPLACE)
    value = f'"{escape(text)}"'
    store.execute(*template.bind({"lamp": LAMP, "new": value}), now=1)
    assert values(store) == {LAMP: value, "<http://example.org/other>": '"0"'}


def test_a_text_that_needs_its_variables_bound_can_be_prepared() -> None:
    store = core()
    template = store.prepare_template("INSERT DATA { ?s <http://example.org/says> ?words }")
    store.execute(*template.bind({"s": "<http://example.org/new>", "words": '"} ; DROP ALL #"'}), now=1)
    assert values(store)["<http://example.org/new>"] == '"} ; DROP ALL #"'
    with pytest.raises(SparqlSyntaxError):
        template.bind({"s": "<http://example.org/new>"})


def test_a_predicate_and_a_graph_can_be_bound_as_well() -> None:
    store = core()
    template = store.prepare_template("INSERT { GRAPH ?g { <http://example.org/a> ?p 1 } } WHERE {}")
    for name in ("x", "y"):
        store.execute(
            *template.bind({"g": f"<http://example.org/{name}>", "p": f"<http://example.org/p{name}>"}), now=1
        )
    added = {(p, g) for _, p, _, g in store.store if g}
    assert added == {(f"<http://example.org/p{name}>", f"<http://example.org/{name}>") for name in ("x", "y")}


def test_variables_that_are_not_there_are_named() -> None:
    with pytest.raises(BadRequest, match=r"no variable \?lump; it has \?lamp, \?old, \?new"):
        core().prepare_template(REPLACE).bind({"lump": LAMP})


def test_what_cannot_be_read_is_refused_when_it_is_prepared() -> None:
    with pytest.raises(SparqlSyntaxError) as raised:
        core().prepare_template("DELETE { ?a }")
    assert (raised.value.line, raised.value.column) == (1, 13)


def test_a_variable_that_the_text_assigns_cannot_be_bound() -> None:
    template = core().prepare_template(f"INSERT {{ {LAMP} {DIMMING} ?v }} WHERE {{ BIND(1 AS ?v) }}")
    with pytest.raises(SparqlSyntaxError):
        template.bind({"v": '"2"'})
