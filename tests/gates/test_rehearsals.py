"""Updates that are only tried out: their exact delta is told, and nothing has happened."""

import pytest

from gates.doors import built, is_error
from gates.requests import SELECT, UPDATE, Gate, ask, gate, values
from tidings.model.access import Graphs, Rights
from waiting import asynchronous

ENTRY = "DELETE { ?s ?p 2 } INSERT { ?s ?p 20 } WHERE { ?s ?p 2 }"
DRY = {"dry-run": "true"}


def test_the_exact_delta_is_told_and_nothing_is_done(app: Gate) -> None:
    before = values(ask(app, "GET", "/query", params={"query": SELECT}))
    rehearsed = ask(app, "POST", "/update", data={"update": ENTRY} | DRY).json()["response"]
    assert (rehearsed["dry_run"], rehearsed["added"], rehearsed["removed"]) == (True, 1, 1)
    (removed,) = rehearsed["remove"]
    assert removed == {
        "s": "<http://example.org/b>",
        "p": "<http://example.org/p>",
        "o": '"2"^^<http://www.w3.org/2001/XMLSchema#integer>',
        "g": "",
    }
    assert [quad["o"][:4] for quad in rehearsed["add"]] == ['"20"']
    assert values(ask(app, "GET", "/query", params={"query": SELECT})) == before
    done = ask(app, "POST", "/update", data={"update": ENTRY}).json()["response"]
    assert (done["added"], done["removed"]) == (1, 1)


@pytest.mark.parametrize("path", ["/update", "/sparql"])
def test_the_parameter_may_be_in_the_address(app: Gate, path: str) -> None:
    rehearsed = ask(app, "POST", path, params=DRY, content="CLEAR ALL", headers=UPDATE).json()["response"]
    assert (rehearsed["removed"], {quad["g"] for quad in rehearsed["remove"]}) == (
        5,
        {"", "<http://example.org/g>", "<http://example.org/h>"},
    )


def test_an_update_without_effect_would_do_nothing(app: Gate) -> None:
    rehearsed = ask(app, "POST", "/update", data={"update": "DELETE DATA { <urn:x> <urn:y> 1 }"} | DRY).json()
    assert rehearsed == {"response": {"dry_run": True, "added": 0, "removed": 0, "add": [], "remove": []}}


def test_many_quads_are_counted_and_the_first_of_them_told(app: Gate) -> None:
    triples = " ".join(f"<urn:s> <urn:p> {number} ." for number in range(1_500))
    rehearsed = ask(app, "POST", "/update", data={"update": f"INSERT DATA {{ {triples} }}"} | DRY).json()["response"]
    assert (rehearsed["added"], len(rehearsed["add"])) == (1_500, 1_000)


def test_what_would_fail_fails(app: Gate) -> None:
    assert is_error(ask(app, "POST", "/update", data={"update": "INSERT {"} | DRY), 400, "sparql_syntax_error")
    assert is_error(
        ask(app, "POST", "/update", data={"update": "CREATE GRAPH <http://example.org/g>"} | DRY), 409, "graph_exists"
    )
    assert is_error(
        ask(gate(read_only=True), "POST", "/update", data={"update": "CLEAR ALL"} | DRY), 403, "not_allowed"
    )


def test_what_is_due_later_cannot_be_tried_now(app: Gate) -> None:
    assert is_error(ask(app, "POST", "/update", data={"update": "CLEAR ALL", "delay": "5"} | DRY), 400, "bad_request")
    assert is_error(ask(app, "POST", "/update", data={"update": "CLEAR ALL", "dry-run": "perhaps"}), 400, "bad_request")


@asynchronous
async def test_who_may_write_a_graph_and_not_read_it_learns_numbers_only() -> None:
    async with built() as (broker, _, _):
        await broker.update("INSERT DATA { <urn:a> <urn:b> 1 . GRAPH <urn:g> { <urn:a> <urn:b> 2 } }")
        rights = Rights(read=Graphs(names=frozenset(("",))), write=Graphs.ALL)
        rehearsal = await broker.rehearse("CLEAR ALL", None, rights, None)
    assert (rehearsal.removed, [quad[3] for quad in rehearsal.remove]) == (2, [""])
