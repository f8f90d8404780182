"""Patterns of updates that wait, asked about in one question: whichever way it is written, it says the same of each."""

import asyncio
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from endpoint.in_process import InProcess
from tidings.broker.record.instances import where_of
from tidings.broker.updates.elsewhere import Asked
from tidings.endpoint.asking import Asking
from tidings.endpoint.dialects.oxigraph import OXIGRAPH
from tidings.engine.updates.executor import Core
from tidings.model.access import ALL_RIGHTS
from tidings.model.errors import TidingsError
from tidings.model.results import Row
from tidings.sparql.algebra import Modify
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
)
subjects = st.sampled_from("abcd")
literals = st.sampled_from(("1", "01", '"x"', '"x"@EN', "2.5", "<b>"))


def where(core: Core, text: str) -> Where:
    request, parameters = core.prepare_update(text)
    (operation,) = request.operations
    assert isinstance(operation, Modify)
    return where_of(operation, Asked(request, parameters, ALL_RIGHTS))


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


def test_updates_of_one_kind_are_asked_about_in_a_table() -> None:
    core = Core(base="http://e/")
    wheres = [where(core, TEXTS[0].format(subject, "1")) for subject in "abc"]
    ((question,), (others, *_)) = (answers(wheres, tables=tables)[1] for tables in (True, False))
    assert "VALUES" in question
    assert "UNION" not in question
    assert "UNION" in others
