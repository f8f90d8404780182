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


class Known:
    """Endpoints that know one thing each, by their IRIs, and which of them were asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, endpoint: str, query: str) -> Solutions:
        self.asked.append(endpoint)
        if endpoint == "urn:off":
            raise ServiceFailed(f"{endpoint} does not answer")
        return Solutions(("what",), iter([(f'"at {endpoint}"',)]))


REGISTER = [
    ("<urn:x>", "<urn:at>", "<urn:b>", ""),
    ("<urn:y>", "<urn:at>", "<urn:d>", ""),
    ("<urn:z>", "<urn:at>", "<urn:b>", ""),
]
ANSWERS = [("<urn:x>", '"at urn:b"'), ("<urn:y>", '"at urn:d"'), ("<urn:z>", '"at urn:b"')]


@pytest.mark.parametrize(
    "pattern",
    [
        "?s <urn:at> ?e SERVICE ?e { ?x <urn:is> ?what }",
        "SERVICE ?e { ?x <urn:is> ?what } ?s <urn:at> ?e",
        "?s <urn:at> ?e { SERVICE ?e { ?x <urn:is> ?what } FILTER(?what != 'x') } ?s <urn:at> ?e",
        "?s <urn:at> ?e OPTIONAL { SERVICE ?e { ?x <urn:is> ?what } }",
        "?s <urn:at> ?e . { SERVICE ?e { ?x <urn:is> ?what } } UNION { SERVICE ?e { ?y <urn:is> ?z } FILTER(false) }",
        "VALUES (?s ?e) { (<urn:x> <urn:b>) (<urn:y> <urn:d>) (<urn:z> <urn:b>) } SERVICE ?e { ?x <urn:is> ?what }",
    ],
)
def test_a_variable_names_the_endpoint_of_each_row_and_each_is_asked_once(pattern: str) -> None:
    known = Known()
    found = rows(Core(Store(REGISTER), service=known), f"SELECT ?s ?what {{ {pattern} }}")
    assert sorted(found) == ANSWERS
    assert sorted(set(known.asked)) == ["urn:b", "urn:d"]
    assert len(known.asked) == (4 if "UNION" in pattern else 2)


def test_what_an_endpoint_says_is_joined_with_the_row_that_names_it() -> None:
    text = "SELECT ?s { ?s <urn:at> ?e BIND('at urn:d' AS ?what) SERVICE ?e { ?x <urn:is> ?what } }"
    assert rows(Core(Store(REGISTER), service=Known()), text) == [("<urn:y>",)]


def test_an_update_that_is_carried_out_again_asks_again() -> None:
    core = Core(Store(REGISTER), service=(known := Known()))
    text = "INSERT { ?s <urn:is> ?what } WHERE { ?s <urn:at> ?e SERVICE ?e { ?x <urn:is> ?what } }"
    assert [len(core.update(text, now=0)) for _ in range(2)] == [3, 0]
    assert len(known.asked) == 4


@pytest.mark.parametrize("binding", ["", "VALUES ?e { 'urn:b' }", "VALUES ?e { UNDEF }", "VALUES ?e { <urn:off> }"])
def test_without_an_endpoint_that_answers_a_service_fails_or_binds_nothing(binding: str) -> None:
    core = Core(service=Known())
    with pytest.raises(ServiceFailed):
        rows(core, f"SELECT ?what {{ {binding} SERVICE ?e {{ ?x <urn:is> ?what }} }}")
    assert rows(core, f"SELECT ?what {{ {binding} SERVICE SILENT ?e {{ ?x <urn:is> ?what }} }}") == [(None,)]


def test_a_label_is_one_blank_node_within_an_answer_and_another_in_the_next() -> None:
    def labelled(endpoint: str, query: str) -> Solutions:
        return Solutions((endpoint[-1],), iter([("_:b",), ("_:b",), ("<urn:a>",)]))

    text = "SELECT * { SERVICE <http://far/x> { ?x <urn:p> 1 } SERVICE <http://far/y> { ?y <urn:p> 1 } }"
    found = rows(Core(service=labelled), text)
    nodes = [{term for term in column if term and term[0] == "_"} for column in zip(*found, strict=True)]
    assert (len(found), [len(each) for each in nodes]) == (9, [1, 1])
    assert not nodes[0] & nodes[1]
    assert ("<urn:a>", "<urn:a>") in found
