"""Patterns of updates that wait, asked about in one question: whichever way it is written, it says the same of each."""

import asyncio
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from endpoint.in_process import InProcess
from tidings.broker.record.instances import instances_of, where_of
from tidings.broker.updates.elsewhere import Asked
from tidings.endpoint.asking import Asking
from tidings.endpoint.dialects.oxigraph import OXIGRAPH
from tidings.endpoint.store import SparqlStore
from tidings.engine.updates.executor import Core
from tidings.model.access import ALL_RIGHTS
from tidings.model.errors import TidingsError
from tidings.model.results import Row
from tidings.sparql.algebra import Modify
from tidings.sparql.evaluate.context import Moment
from tidings.sparql.writing.requests import Where

DATA = """
    <a> <p> 1, "x"@en, <b> . <b> <p> 01, "x", <c> . <c> <q> <a>, 2.50 .
    GRAPH <g> { <a> <p> <b>, 3 . <d> <q> "y" }
"""
TEXTS = (
    "DELETE {{ <{0}> <p> ?o }} INSERT {{ <{0}> <p> {1} }} WHERE {{ <{0}> <p> ?o }}",
    "DELETE {{ ?s <q> ?o }} INSERT {{ ?s <q> <{0}> }} WHERE {{ ?s <p> <{0}> . ?s <q> ?o }}",
    "INSERT {{ ?s <q> [] }} WHERE {{ ?s ?p <{0}> }}",
    "INSERT {{ <{0}> <q> ?s }} WHERE {{ ?s <p> {1} }}",
    "WITH <g> DELETE {{ <{0}> <p> ?o }} WHERE {{ <{0}> <p> ?o }}",
    "INSERT {{ GRAPH <g> {{ <{0}> <p> ?o }} }} WHERE {{ <{0}> ?p ?o }}",
    "INSERT {{ <{0}> <p> {1} . <d> <q> ?o }} WHERE {{ <{0}> <p> ?o }}",
    "WITH <g> DELETE {{ <{0}> <p> ?o }} INSERT {{ <{0}> <p> {1} }} WHERE {{ <{0}> <p> ?o }}",
    "DELETE {{ <{0}> <p> ?o }} INSERT {{ GRAPH <g> {{ <{0}> <p> {1} }} }} WHERE {{ <{0}> <p> ?o }}",
)
subjects = st.sampled_from("abcd")
literals = st.sampled_from(("1", "01", '"x"', '"x"@EN', "2.5", "<b>"))


def prepared(core: Core, text: str) -> tuple[Modify, Where]:
    request, parameters = core.prepare_update(text)
    (operation,) = request.operations
    assert isinstance(operation, Modify)
    return operation, where_of(operation, Asked(request, parameters, ALL_RIGHTS))


def where(core: Core, text: str) -> Where:
    return prepared(core, text)[1]


def in_any_order(found: list[list[Row] | TidingsError]) -> list[object]:
    return [sorted(each, key=str) if isinstance(each, list) else each for each in found]


def answers(wheres: list[Where], *, tables: bool) -> tuple[list[object], list[str]]:
    endpoint = InProcess()
    endpoint.store.update(f"BASE <http://e/> INSERT DATA {{ {DATA} }}")
    asking = Asking(endpoint, replace(OXIGRAPH, tables=tables))
    return in_any_order(asyncio.run(asking.solutions(wheres))), endpoint.queries


@given(st.sampled_from(TEXTS), st.lists(st.tuples(subjects, literals), min_size=2, max_size=6))
def test_a_table_of_constants_says_the_same_as_a_pattern_for_each(text: str, given: list[tuple[str, str]]) -> None:
    core = Core(base="http://e/")
    wheres = [where(core, text.format(*each)) for each in given]
    assert answers(wheres, tables=True)[0] == answers(wheres, tables=False)[0]


@given(st.sampled_from(TEXTS), subjects, literals)
def test_what_an_answer_tells_of_quads_is_so(text: str, subject: str, literal: str) -> None:
    operation, asked = prepared(Core(base="http://e/"), text.format(subject, literal))
    endpoint = InProcess()
    endpoint.store.update(f"BASE <http://e/> INSERT DATA {{ {DATA} }}")
    (rows,) = asyncio.run(Asking(endpoint, OXIGRAPH).solutions([asked]))
    assert not isinstance(rows, TidingsError)
    states = instances_of(operation, asked, rows, Moment(0)).states
    assert asyncio.run(SparqlStore(endpoint).lacking(states)) == []


def test_no_quad_is_asked_about_where_the_pattern_lists_all_of_its_kind() -> None:
    core = Core(base="http://e/")
    has_question = {text: bool(where(core, text.format("a", "1")).quads) for text in TEXTS}
    assert [text for text, asks in has_question.items() if not asks] == [TEXTS[0], TEXTS[2], TEXTS[4], TEXTS[7]]


def test_updates_of_one_kind_are_asked_about_in_a_table() -> None:
    core = Core(base="http://e/")
    wheres = [where(core, TEXTS[0].format(subject, "1")) for subject in "abc"]
    ((question,), (others, *_)) = (answers(wheres, tables=tables)[1] for tables in (True, False))
    assert "VALUES" in question
    assert "UNION" not in question
    assert "UNION" in others
