"""What an agent can do with the graph: ask, change, see what there is, watch, and hear what changed."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from endurance import often
from gates.mcp.agents import agent
from tidings.gates.mcp.requests import KINDS, Request, read_request
from tidings.gates.mcp.sizing import MOST_CHARACTERS
from tidings.model.errors import TidingsError
from waiting import asynchronous

BASE = "http://example.org/"
LAMPS = "SELECT ?lamp ?watts { ?lamp <watts> ?watts } ORDER BY ?lamp"
ONE, TWO = f"<{BASE}lamp-1>", f"<{BASE}lamp-2>"


@asynchronous
async def test_every_tool_says_what_it_takes() -> None:
    async with agent() as here, agent(read_only=True) as looker:
        tools = {tool.name: tool for tool in (await here.client.list_tools()).tools}
        assert set(tools) == {
            "query", "update", "cancel", "vocabulary", "watch", "changes", "unwatch", "watches", "explain",
        }  # fmt: skip
        assert all(tool.description and tool.input_schema["type"] == "object" for tool in tools.values())
        assert tools["query"].input_schema["required"] == ["sparql"]
        assert set(tools) - {tool.name for tool in (await looker.client.list_tools()).tools} == {"update", "cancel"}
        assert await looker.refused("update", sparql="CLEAR ALL") == "not_found"


@asynchronous
async def test_answers_are_short_and_come_in_pages() -> None:
    async with agent() as here:
        first = await here.call("query", sparql=LAMPS, limit=1)
        assert first == {"columns": ["lamp", "watts"], "rows": [[ONE, "40"]], "next": 1}
        assert await here.call("query", sparql=LAMPS, offset=1) == {"columns": ["lamp", "watts"], "rows": [[TWO, "60"]]}
        labels = await here.call("query", sparql="SELECT ?p ?l { ?s ?p ?l FILTER(isLiteral(?l) && ?l = 'hall') }")
        assert labels["rows"] == [["rdfs:label", '"hall"']]
        assert labels["prefixes"] == {"rdfs": "http://www.w3.org/2000/01/rdf-schema#"}
        assert await here.call("query", sparql="ASK { ?s <watts> 40 }") == {"answer": True}
        made = await here.call("query", sparql="CONSTRUCT { ?s <is> ?w } { ?s <watts> ?w }")
        assert (made["columns"], len(made["rows"])) == (["subject", "predicate", "object"], 2)
        assert await here.refused("query", sparql="SELECT") == "sparql_syntax_error"
        assert await here.refused("query", sparql=LAMPS, limit=0) == "bad_request"
        assert await here.refused("query", sparql=LAMPS, colour="red") == "bad_request"


@asynchronous
async def test_no_answer_is_longer_than_a_context_window_has_room_for() -> None:
    async with agent() as here:
        await here.broker.update(
            "".join(f'INSERT DATA {{ <t> <text> "{number:04}{"x" * 5_000}" }} ;' for number in range(20))
        )
        texts = "SELECT ?t { <t> <text> ?t } ORDER BY ?t"
        told = await here.call("query", sparql=texts, limit=100)
        assert 0 < len(told["rows"]) == told["next"] < 20
        assert sum(len(row[0]) for row in told["rows"]) <= MOST_CHARACTERS
        long = await here.call("query", sparql='SELECT (CONCAT("' + "x" * 30_000 + '", "") AS ?t) {}')
        assert len(long["rows"]) == 1


@asynchronous
async def test_an_update_is_a_dry_run_at_first() -> None:
    async with agent() as here:
        text = "DELETE { ?l <watts> ?w } INSERT { ?l <watts> 5 } WHERE { ?l <watts> ?w }"
        tried = await here.call("update", sparql=text)
        assert (tried["dry_run"], tried["added"], tried["removed"]) == (True, 2, 2)
        assert sorted(tried["remove"]) == [[ONE, f"<{BASE}watts>", "40"], [TWO, f"<{BASE}watts>", "60"]]
        assert sorted(row[2] for row in tried["add"]) == ["5", "5"]
        assert (await here.call("query", sparql="ASK { ?l <watts> 5 }")) == {"answer": False}
        done = await here.call("update", sparql=text, dry_run=False)
        assert (done["added"], done["removed"]) == (2, 2)
        assert (await here.call("query", sparql="ASK { ?l <watts> 5 }")) == {"answer": True}


@asynchronous
async def test_an_update_can_be_delayed_and_called_off() -> None:
    async with agent() as here:
        later = await here.call("update", sparql="INSERT DATA { <a> <b> 1 }", dry_run=False, delay="PT1H")
        assert len(here.broker.schedule) == 1
        assert (await here.call("update", sparql="CLEAR ALL", dry_run=False, delay=3_600))["at"] == later["at"]
        assert len(here.broker.schedule) == 2
        assert await here.call("cancel", delayed=later["delayed"]) == {"cancelled": later["delayed"]}
        assert len(here.broker.schedule) == 1
        assert await here.refused("cancel", delayed="nothing") == "unknown_delayed"
        assert await here.refused("update", sparql="CLEAR ALL", dry_run=False, at="soon") == "bad_request"


@asynchronous
async def test_the_vocabulary_says_what_there_is_how_often_and_an_example() -> None:
    async with agent() as here:
        await here.broker.update("INSERT DATA { GRAPH <g> { <lamp-3> a <Lamp> } }")
        found = await here.call("vocabulary")
        assert found["classes"][0]["class"] == f"<{BASE}Lamp>"
        assert [each["count"] for each in found["classes"]] == [3, 1]
        counts = {each["predicate"]: each["count"] for each in found["predicates"]}
        assert counts == {"rdf:type": 4, f"<{BASE}watts>": 2, "rdfs:label": 1}
        assert found["namespaces"] == [BASE]
        assert "more" in await here.call("vocabulary", limit=1)


@asynchronous
async def test_a_plan_is_explained() -> None:
    async with agent() as here:
        assert "woken by" in (await here.call("explain", sparql=LAMPS))["plan"]
        assert list(here.broker.subscribers()) == []


# -- watches ------------------------------------------------------------------------------------------------------


@asynchronous
async def test_changes_are_the_exact_rows_since_the_last_look() -> None:
    async with agent() as here:
        begun = await here.call("watch", name="lamps", sparql=LAMPS)
        assert begun["rows"] == [[ONE, "40"], [TWO, "60"]]
        nothing = await here.call("changes", name="lamps")
        assert (nothing["added"], nothing["removed"]) == ([], [])
        await here.broker.update("DELETE DATA { <lamp-1> <watts> 40 } ; INSERT DATA { <lamp-3> <watts> 7 }")
        told = await here.call("changes", name="lamps")
        assert (told["added"], told["removed"]) == ([[f"<{BASE}lamp-3>", "7"]], [[ONE, "40"]])
        assert await here.call("changes", name="lamps") == told, "what was not acknowledged is told again"
        again = await here.call("changes", name="lamps", after=told["cursor"])
        assert (again["added"], again["removed"]) == ([], [])
        await here.broker.update("INSERT DATA { <lamp-4> <watts> 1 } ; DELETE DATA { <lamp-4> <watts> 1 }")
        assert (await here.call("changes", name="lamps"))["added"] == []


@asynchronous
async def test_changes_come_in_portions_and_none_is_lost() -> None:
    async with agent() as here:
        await here.call("watch", name="all", sparql="SELECT ?n { <numbers> <has> ?n }", everything=True)
        await here.broker.update("INSERT DATA { <numbers> <has> " + ", ".join(map(str, range(25))) + " }")
        heard: list[str] = []
        cursor, left = None, []
        while len(heard) < 25:
            told = await here.call("changes", name="all", after=cursor, limit=10)
            heard += [row[0] for row in told["added"]]
            cursor = told["cursor"]
            left.append(told.get("more", 0))
        assert sorted(map(int, heard)) == list(range(25))
        assert left == [15, 5, 0]


@asynchronous
async def test_what_was_seen_survives_agent_and_broker(tmp_path: Path) -> None:
    async with agent(tmp_path) as here:
        await here.call("watch", name="lamps", sparql=LAMPS)
        await here.broker.update("INSERT DATA { <lamp-3> <watts> 7 }")
        told = await here.call("changes", name="lamps")
        await here.broker.update("DELETE DATA { <lamp-1> <watts> 40 }")
    async with agent(tmp_path) as here:
        assert (await here.call("watch", name="lamps", sparql=LAMPS))["since"] == "before"
        assert [each["name"] for each in (await here.call("watches"))["watches"]] == ["lamps"]
        told = await here.call("changes", name="lamps", after=told["cursor"])  # which a broker before this one told
        assert (told["added"], told["removed"]) == ([], [[ONE, "40"]])
        assert here.broker.snapshots is not None
        await here.broker.snapshots.write()
    async with agent(tmp_path) as here:
        assert (await here.call("changes", name="lamps"))["removed"] == [[ONE, "40"]]
        assert (await here.call("changes", name="lamps", after=told["cursor"]))["removed"] == []
        await here.call("unwatch", name="lamps")
    async with agent(tmp_path) as here:
        assert await here.refused("changes", name="lamps") == "unknown_watch"


@asynchronous
async def test_an_answer_that_is_too_long_is_not_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidings.gates.mcp.desk.MOST_ROWS", 1)
    monkeypatch.setattr("tidings.gates.mcp.watches.MOST_WATCHES", 1)
    async with agent() as here:
        assert await here.refused("watch", name="lamps", sparql=LAMPS) == "answer_too_long"
        await here.call("watch", name="one", sparql="ASK { ?s <watts> 40 }")
        assert await here.refused("watch", name="two", sparql="ASK { ?s <watts> 60 }") == "too_many_watches"
        await here.broker.update("DELETE DATA { <lamp-1> <watts> 40 }")
        told = await here.call("changes", name="one")
        assert (told["added"], told["removed"]) == ([["false"]], [["true"]])


NAMES = st.sampled_from([kind.__name__.lower() for kind in KINDS]) | st.text(max_size=5)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["sparql", "limit", "offset", "name", "after", "dry_run", "delay", "at", "delayed", "x"]),
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2),
    max_size=4,
)


@settings(max_examples=often(100), deadline=None)
@given(NAMES, ARGUMENTS, st.booleans())
def test_any_arguments_are_a_request_or_refused(name: str, arguments: dict[str, Any], read_only: bool) -> None:
    outcome = _outcome(name, arguments, read_only)
    if isinstance(outcome, int):
        assert outcome in {400, 404}
    else:
        assert type(outcome).__name__.lower() == name
        assert not (read_only and outcome.changes)


def _outcome(name: str, arguments: dict[str, Any], read_only: bool) -> Request | int:
    """The request, or the status of its refusal."""
    try:
        return read_request(name, arguments, read_only=read_only)
    except TidingsError as error:
        return error.status
