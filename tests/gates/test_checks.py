"""Texts that are only read: where the mistake is, and that nothing is done."""

from pathlib import Path
from typing import Any

import pytest

from gates.doors import indoors, is_error
from gates.requests import SELECT, UPDATE, Gate, ask, values
from waiting import asynchronous


def checked(app: Gate, **form: str) -> dict[str, Any]:
    answer = ask(app, "POST", "/check", data=form)
    assert answer.status_code == 200, answer.text
    content = answer.json()
    assert isinstance(content, dict)
    return content


def test_a_text_that_can_be_read_is_valid_and_nothing_is_done(app: Gate) -> None:
    before = values(ask(app, "GET", "/query", params={"query": SELECT}))
    assert checked(app, query=SELECT) == {"valid": True, "warnings": []}
    assert checked(app, update="CLEAR ALL") == {"valid": True, "warnings": []}
    assert checked(app, query="MATCHING {parking~ > 0}") == {"valid": True, "warnings": []}
    assert ask(app, "POST", "/check", content="CLEAR ALL", headers=UPDATE).json()["valid"] is True
    assert values(ask(app, "GET", "/query", params={"query": SELECT})) == before


def test_a_mistake_is_told_with_its_place_and_is_no_failure(app: Gate) -> None:
    wrong = checked(app, query="SELECT ?x WHERE {\n  ?x <urn:p> ,\n}")
    assert (wrong["valid"], wrong["error"], wrong["line"], wrong["column"]) == (False, "sparql_syntax_error", 2, 14)
    assert checked(app, update="INSERT DATA { ?x <urn:p> 1 }")["valid"] is False
    assert checked(app, query="MATCHING {")["valid"] is False


def test_what_is_doubtful_is_told(app: Gate) -> None:
    (warning,) = checked(app, query="SELECT * { ?s ?p ?o FILTER(<urn:f>(?o)) }")["warnings"]
    assert "urn:f" in warning


def test_a_long_text_is_read_aside(app: Gate) -> None:
    data = " ".join(f"<urn:s> <urn:p> {number} ." for number in range(3_000))
    assert checked(app, update=f"INSERT DATA {{ {data} }}")["valid"] is True
    assert checked(app, update=f"INSERT DATA {{ {data} ")["error"] == "sparql_syntax_error"


def test_without_a_text_there_is_nothing_to_check(app: Gate) -> None:
    assert is_error(ask(app, "GET", "/check"), 400, "bad_request")


@pytest.mark.parametrize("wrong", ["-1", "x", "1" * 30])
def test_a_commit_is_a_number(app: Gate, wrong: str) -> None:
    assert is_error(ask(app, "GET", "/query", params={"query": SELECT, "at": wrong}), 400, "bad_request")


@asynchronous
async def test_a_query_is_answered_as_of_a_commit(tmp_path: Path) -> None:
    async with indoors(tmp_path / "data") as house:
        for number in (1, 2):
            await house.update(f"INSERT DATA {{ <urn:s> <http://example.org/p> {number} }}")
        asked = {"query": SELECT, "at": "1"}
        assert values(await house.get("/query", params=asked)) == ["1"]
        assert values(await house.http.post("/sparql", data=asked)) == ["1"]
        beyond = await house.get("/query", 404, params=asked | {"at": "3"})
        assert is_error(beyond, 404, "unknown_commit")
        assert beyond.json()["last"] == 2
        assert (await house.get("/status")).json()["log"]["oldest"] == 1
    async with indoors() as house:
        assert is_error(await house.get("/query", 404, params=asked), 404, "no_log")
