"""Watches as resources: listed, read, and told of when they change, to clients of both ages of the protocol."""

import asyncio
import json

import pytest
from mcp import MCPError, ResourceUpdatedNotification
from mcp.client.subscriptions import ResourceUpdated

from gates.mcp.agents import agent
from waiting import PATIENCE, asynchronous

LAMPS = "SELECT ?watts { ?lamp <watts> ?watts } ORDER BY ?watts"


@asynchronous
async def test_a_watch_is_a_resource() -> None:
    async with agent() as here:
        address = (await here.call("watch", name="all lamps", sparql=LAMPS))["resource"]
        (resource,) = (await here.client.list_resources()).resources
        assert (str(resource.uri), resource.name) == (address, "all lamps")
        (content,) = (await here.client.read_resource(address)).contents
        assert json.loads(content.text)["rows"] == [["40"], ["60"]]  # type: ignore[union-attr]
        with pytest.raises(MCPError):
            await here.client.read_resource("tidings://watches/other")


@asynchronous
async def test_who_listens_is_told_that_a_watched_answer_has_changed() -> None:
    async with agent() as here, asyncio.timeout(PATIENCE):
        address = (await here.call("watch", name="lamps", sparql=LAMPS))["resource"]
        async with here.client.listen(resource_subscriptions=[address]) as events:
            await here.broker.update("INSERT DATA { <lamp-3> <watts> 7 }")
            async for event in events:
                assert event == ResourceUpdated(address)
                break


@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
@asynchronous
async def test_an_older_client_subscribes_to_resources() -> None:
    told: asyncio.Queue[str] = asyncio.Queue()

    async def hear(message: object) -> None:
        if isinstance(message, ResourceUpdatedNotification):
            told.put_nowait(str(message.params.uri))

    async with agent(mode="legacy", hear=hear) as here, asyncio.timeout(PATIENCE):
        address = (await here.call("watch", name="lamps", sparql=LAMPS))["resource"]
        await here.client.subscribe_resource(address)
        await here.broker.update("INSERT DATA { <lamp-3> <watts> 7 }")
        assert await told.get() == address
        await here.client.unsubscribe_resource(address)
        with pytest.raises(MCPError):
            await here.client.subscribe_resource("tidings://watches/other")
