"""LOAD goes through the loader that is handed in, is off without one, and fails whole."""

from collections.abc import Iterable

import pytest

from tidings.engine.updates.executor import Core
from tidings.model.errors import LoadFailed, NotAllowed, RdfSyntaxError
from tidings.model.terms import Triple

TRIPLE = ("<urn:a>", "<urn:p>", "<urn:b>")


def loader(source: str) -> Iterable[Triple]:
    if source == "http://far/broken":
        yield TRIPLE
        raise RdfSyntaxError("not Turtle", line=2, column=1)
    if source == "http://far/gone":
        raise FileNotFoundError(source)
    yield TRIPLE


def test_a_document_is_loaded_into_the_default_graph_or_the_one_named() -> None:
    core = Core(loader=loader)
    delta = core.update("LOAD <http://far/a> ; LOAD <http://far/a> INTO GRAPH <urn:g>", now=0)
    assert set(core.store) == set(delta.added()) == {(*TRIPLE, ""), (*TRIPLE, "<urn:g>")}


def test_loading_what_is_there_changes_nothing() -> None:
    core = Core(loader=loader)
    core.update("LOAD <http://far/a>", now=0)
    assert not core.update("LOAD <http://far/a>", now=0)


def test_without_a_loader_load_is_refused_and_silent_does_nothing() -> None:
    core = Core()
    with pytest.raises(NotAllowed, match="LOAD"):
        core.update("LOAD <http://far/a>", now=0)
    assert not core.update("LOAD SILENT <http://far/a>", now=0)


@pytest.mark.parametrize("source", ["http://far/broken", "http://far/gone"])
def test_a_document_that_cannot_be_read_leaves_nothing_behind(source: str) -> None:
    core = Core(loader=loader)
    with pytest.raises(LoadFailed, match=source):
        core.update(f"INSERT DATA {{ <urn:x> <urn:y> 1 }} ; LOAD <{source}>", now=0)
    assert not set(core.store)
    delta = core.update(f"INSERT DATA {{ <urn:x> <urn:y> 1 }} ; LOAD SILENT <{source}>", now=0)
    assert len(delta) == 1
