"""SERVICE goes through the client that is handed in, and is off without one."""

import pytest

from tidings.engine.store.store import Store
from tidings.engine.updates.executor import Core
from tidings.model.errors import NotAllowed, ServiceFailed
from tidings.model.results import Solutions

STORE = [("<urn:a>", "<urn:p>", "<urn:b>", ""), ("<urn:c>", "<urn:p>", "<urn:d>", "")]
QUERY = "PREFIX u: <urn:> SELECT ?s ?label { ?s u:p ?o SERVICE <http://far/sparql> { ?o u:label ?label } }"


class Far:
    """An endpoint that knows one label, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def __call__(self, endpoint: str, query: str) -> Solutions:
        self.asked.append((endpoint, query))
        return Solutions(("label", "o"), iter([('"B"', "<urn:b>")]))


def unreachable(endpoint: str, query: str) -> Solutions:
    raise ServiceFailed(f"{endpoint} does not answer")


def rows(core: Core, text: str) -> list[tuple[str | None, ...]]:
    result = core.query(text, now=0)
    assert isinstance(result, Solutions)
    return list(result.rows)


def test_the_rows_of_a_service_are_joined_with_ours() -> None:
    far = Far()
    assert rows(Core(Store(STORE), service=far), QUERY) == [("<urn:a>", '"B"')]


def test_a_service_is_asked_with_the_prefixes_it_needs() -> None:
    far = Far()
    rows(Core(Store(STORE), service=far), QUERY)
    ((endpoint, asked),) = far.asked
    assert endpoint == "http://far/sparql"
    assert rows(Core(Store([("<urn:b>", "<urn:label>", '"B"', "")])), asked) == [("<urn:b>", '"B"')]


def test_without_a_client_a_service_is_refused() -> None:
    with pytest.raises(NotAllowed, match="SERVICE"):
        rows(Core(Store(STORE)), QUERY)


def test_a_service_that_fails_fails_the_query() -> None:
    with pytest.raises(ServiceFailed, match="does not answer"):
        rows(Core(Store(STORE), service=unreachable), QUERY)


def test_a_silent_service_that_fails_binds_nothing() -> None:
    silent = QUERY.replace("SERVICE", "SERVICE SILENT")
    assert rows(Core(Store(STORE), service=unreachable), silent) == [("<urn:a>", None), ("<urn:c>", None)]


def test_a_service_needs_an_iri() -> None:
    with pytest.raises(ServiceFailed, match="variable"):
        rows(Core(Store(STORE), service=Far()), "SELECT * { ?s <urn:p> ?e SERVICE ?e { ?a ?b ?c } }")


def test_a_label_is_one_blank_node_within_an_answer_and_another_in_the_next() -> None:
    def labelled(endpoint: str, query: str) -> Solutions:
        return Solutions((endpoint[-1],), iter([("_:b",), ("_:b",), ("<urn:a>",)]))

    text = "SELECT * { SERVICE <http://far/x> { ?x <urn:p> 1 } SERVICE <http://far/y> { ?y <urn:p> 1 } }"
    found = rows(Core(service=labelled), text)
    nodes = [{term for term in column if term and term[0] == "_"} for column in zip(*found, strict=True)]
    assert (len(found), [len(each) for each in nodes]) == (9, [1, 1])
    assert not nodes[0] & nodes[1]
    assert ("<urn:a>", "<urn:a>") in found
