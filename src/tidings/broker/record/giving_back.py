"""Restores a state in the store of record, as far as the store accepts it.

all at once -> refused: each half, then halves of halves -> quads that are refused alone are given up

A store may have executed half of an update and refuse to undo that: then its content counts, as if others had changed
it. If it refuses every update, that says nothing about the quads, and the broker waits.
"""

import logging
from uuid import uuid4

from tidings.broker.record.seam import States, StoreOfRecord
from tidings.model.errors import EndpointRefused
from tidings.model.terms import Quad

log = logging.getLogger("tidings")


async def give_back(record: StoreOfRecord, states: States) -> dict[Quad, bool]:
    """Bring about these states, except those that the store refuses. Returns the refused ones.

    Raises EndpointRefused if the store refuses every update, and EndpointAway."""
    lacking = await record.lacking(states)
    refused = await _refused(record, {quad: states[quad] for quad in lacking})
    if refused:
        await _check_that_it_takes_updates(record)
        log.warning("the endpoint refuses to restore %d quads; its present state of these counts", len(refused))
    return refused


async def _refused(record: StoreOfRecord, states: dict[Quad, bool]) -> dict[Quad, bool]:
    if not states:
        return {}
    try:
        await record.take(states)
    except EndpointRefused:
        if len(states) == 1:
            return states
    else:
        return {}
    items = list(states.items())
    half = len(items) // 2
    return await _refused(record, dict(items[:half])) | await _refused(record, dict(items[half:]))


async def _check_that_it_takes_updates(record: StoreOfRecord) -> None:
    """Ask the store to delete a quad that it cannot have. Raises EndpointRefused."""
    name = f"<urn:tidings:trial:{uuid4().hex}>"
    await record.take({(name, name, name, ""): False})
