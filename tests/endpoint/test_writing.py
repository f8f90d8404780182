"""Updates, digests and spellings, without a store: what is written for an endpoint means what it should."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies.data import quads
from tidings.endpoint.blanks import incoming, outgoing
from tidings.endpoint.dialects import DIALECTS
from tidings.endpoint.digests import EXPRESSION, digest
from tidings.endpoint.spellings import compared
from tidings.endpoint.writing import updates
from tidings.engine.updates.executor import Core
from tidings.model.errors import EndpointRefused
from tidings.model.results import Solutions
from tidings.model.terms import XSD, Quad, lexical_form
from tidings.model.zset import ZSet

S, P, G = "<http://example.org/s>", "<http://example.org/p>", "<http://example.org/g>"


def nameless(_: str) -> None:
    return None


def there(quad: Quad) -> Quad:
    """A quad as an endpoint has it."""
    s, p, o, g = quad
    return outgoing(s, nameless), p, outgoing(o, nameless), g


@given(
    st.lists(quads, max_size=12), st.dictionaries(quads, st.booleans(), max_size=12), st.sampled_from([400, 1 << 20])
)
@settings(max_examples=25)
def test_updates_bring_states_about_in_portions_that_are_not_too_large(
    before: list[Quad], states: dict[Quad, bool], most: int
) -> None:
    core = Core()
    dialect = replace(DIALECTS["generic"], request_bytes=most)
    for text in updates(dict.fromkeys(before, True), dialect):
        core.update(text, now=0)
    for text in updates(states, dialect):
        assert len(text.encode()) <= most
        core.update(text, now=0)
    expected = {quad for quad in before if states.get(quad, True)} | {quad for quad, held in states.items() if held}
    assert set(core.store) == {there(quad) for quad in expected}
    assert {tuple(map(incoming, quad)) for quad in core.store} == expected


@pytest.mark.parametrize("most", range(300, 420, 7))
def test_what_is_between_operations_counts(most: int) -> None:
    states = {(S, P, f'"{"ä" * number}"', ""): number % 2 == 0 for number in range(12)}
    texts = list(updates(states, replace(DIALECTS["generic"], request_bytes=most)))
    assert any(";" in text for text in texts)
    assert max(len(text.encode()) for text in texts) <= most


@pytest.mark.parametrize("name", ["virtuoso", "generic"])
def test_a_request_has_no_more_quads_than_a_store_can_read(name: str) -> None:
    """Virtuoso's parser runs out of memory after some 5,000 triples, however short."""
    states = {(S, P, f'"{number}"', G if number % 2 else ""): number % 3 == 0 for number in range(100)}
    texts = list(updates(states, replace(DIALECTS[name], request_quads=7)))
    assert all(text.count(f"{S} {P}") <= 7 for text in texts)
    assert sum(text.count(f"{S} {P}") for text in texts) == 100


def test_a_graph_can_stand_for_the_default_graph_and_have_an_operation_of_its_own() -> None:
    (text,) = updates({(S, P, '"1"', ""): True, (S, P, '"2"', G): True}, DIALECTS["virtuoso"])
    assert text.count("INSERT DATA") == 2
    assert "GRAPH <urn:tidings:default>" in text


def test_a_blank_node_of_the_endpoint_is_named_as_its_dialect_does_or_not_at_all() -> None:
    assert outgoing(incoming("_:Bab3X3Ac"), DIALECTS["fuseki"].address) == "<_:ab3:c>"
    assert outgoing(incoming("_:b10001"), DIALECTS["virtuoso"].address) == "<nodeID://b10001>"
    with pytest.raises(EndpointRefused, match="no name"):
        outgoing(incoming("_:a1"), DIALECTS["oxigraph"].address)


@given(st.lists(quads, min_size=1, max_size=12))
@settings(max_examples=25)
def test_the_digest_is_what_sparql_says_it_is(some: list[Quad]) -> None:
    core = Core()
    pairs = {(s, o) for s, _, o, _ in some}
    for text in updates({(s, P, o, ""): True for s, o in pairs}, DIALECTS["generic"]):
        core.update(text, now=0)
    answer = core.query(f"SELECT ({EXPRESSION} AS ?d) {{ ?s ?p ?o }}", now=0)
    assert isinstance(answer, Solutions)
    ((found,),) = answer.rows
    assert found is not None
    assert int(lexical_form(found)) == digest(pairs)


def typed(lexical: str, datatype: str) -> Quad:
    return S, P, f'"{lexical}"^^<{XSD}{datatype}>', ""


def test_what_is_only_spelled_otherwise_is_no_difference() -> None:
    ours = {
        typed("01", "int"),
        typed("1.50", "decimal"),
        (S, P, '"x"@EN', ""),
        typed("7", "integer"),
        (S, P, '"a"', ""),
    }
    theirs = {
        typed("1", "integer"),
        typed("1.5", "decimal"),
        (S, P, '"x"@en', ""),
        typed("8", "integer"),
        (S, P, '"a"', ""),
    }
    found = compared(ours, theirs)
    assert found.differences == ZSet.change(removed=[typed("7", "integer")], added=[typed("8", "integer")])
    assert found.rewritten == 3


def test_a_number_beyond_its_datatype_is_still_that_number() -> None:
    """Oxigraph makes `"200"^^xsd:byte`, which is no byte, the integer 200."""
    found = compared({typed("200", "byte"), typed("x", "byte")}, {typed("200", "integer"), typed("x", "integer")})
    assert found.rewritten == 1
    assert found.differences == ZSet.change(removed=[typed("x", "byte")], added=[typed("x", "integer")])
