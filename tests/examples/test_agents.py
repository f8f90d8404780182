"""Two agents hand a task over, at a real broker; and an agent that starts `tidings mcp` has the same tools."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from gates.wire import serving
from waiting import PATIENCE

EXAMPLE = Path(__file__).parents[2] / "examples" / "agents"
sys.path.append(str(EXAMPLE))

from hand_over import call, main  # noqa: E402

pytestmark = pytest.mark.server


def test_what_one_agent_writes_the_other_one_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(tmp_path, "--mcp") as broker:

        async def story() -> None:
            async with asyncio.timeout(PATIENCE):
                await main(f"{broker.http}/mcp")
                await by_stdio()

        async def by_stdio() -> None:
            command = ["-m", "tidings", "mcp", "--http", broker.http]
            started = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
            async with Client(started) as agent:
                assert "changes" in {tool.name for tool in (await agent.list_tools()).tools}
                watch = await call(agent, "watch", name="all", sparql="SELECT ?o { <s> <p> ?o }")
                async with agent.listen(resource_subscriptions=[watch["resource"]]) as events:
                    await call(agent, "update", sparql="INSERT DATA { <s> <p> 1 }", dry_run=False)
                    await anext(aiter(events))
                assert (await call(agent, "changes", name="all"))["added"] == [["1"]]
                (content,) = (await agent.read_resource(watch["resource"])).contents
                assert json.loads(content.text)["rows"] == [["1"]]  # type: ignore[union-attr]

        asyncio.run(story())
    said = capsys.readouterr().out.splitlines()
    assert [line for line in said if line.startswith("planner")] == [
        f"planner: the square of {number} is {number**2}" for number in (2, 3, 4)
    ]
