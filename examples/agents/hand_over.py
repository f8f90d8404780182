"""Two agents that do not know each other work on one task, through the graph.

    planner   writes tasks, watches results                    worker   watches tasks without a result, does them

Here they are plain programs with the client of the official SDK; any other agent uses the same tools.

    python examples/agents/hand_over.py [http://127.0.0.1:8000/mcp]
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

from mcp import Client

WORK = "http://example.org/work#"
PREFIX = f"PREFIX w: <{WORK}> "
TO_DO = PREFIX + "SELECT ?task ?number { ?task w:square ?number FILTER NOT EXISTS { ?task w:result ?r } }"
RESULTS = PREFIX + "SELECT ?number ?result { ?task w:square ?number ; w:result ?result }"


async def call(agent: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    answer = await agent.call_tool(tool, arguments)
    content = json.loads(answer.content[0].text)  # type: ignore[union-attr]
    if answer.is_error:
        raise RuntimeError(content["error_description"])
    assert isinstance(content, dict)
    return content


async def added(agent: Client, name: str, sparql: str) -> AsyncIterator[list[str]]:
    """The rows that are added to an answer, one by one, beginning with those of the first answer."""
    watch = await call(agent, "watch", name=name, sparql=sparql, everything=True)
    cursor = None
    async with agent.listen(resource_subscriptions=[watch["resource"]]) as events:
        while True:
            told = await call(agent, "changes", name=name, after=cursor)
            cursor = told["cursor"]
            for row in told["added"]:
                yield row
            if not told["added"] and not told["removed"]:
                await anext(aiter(events))


async def update(agent: Client, sparql: str) -> None:
    """Try an update with a dry run, then execute it."""
    tried = await call(agent, "update", sparql=PREFIX + sparql)
    if tried["removed"]:
        raise RuntimeError("that would remove something")
    await call(agent, "update", sparql=PREFIX + sparql, dry_run=False)


async def worker(address: str) -> None:
    async with Client(address) as agent:
        async for task, number in added(agent, "worker", TO_DO):
            print(f"worker: {number} is to be squared")
            await update(agent, f"INSERT DATA {{ {task} w:result {int(number) ** 2} }}")


async def planner(address: str, numbers: range) -> None:
    async with Client(address) as agent:
        for number in numbers:
            await update(agent, f"INSERT DATA {{ w:task-{number} w:square {number} }}")
        left = len(numbers)
        async for asked, result in added(agent, "planner", RESULTS):
            print(f"planner: the square of {asked} is {result}")
            left -= 1
            if not left:
                break
        await call(agent, "unwatch", name="planner")


async def main(address: str) -> None:
    working = asyncio.create_task(worker(address))
    await planner(address, range(2, 5))
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000/mcp"))
