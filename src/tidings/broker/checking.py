"""Checks the text of a request that a user is writing: the broker parses it, and does nothing else with it."""

from collections.abc import Iterator
from functools import partial

from tidings.broker.approximate.clause import is_approximate
from tidings.broker.approximate.matching import Matching
from tidings.broker.forks import Forks
from tidings.broker.queries import LONG_QUERY
from tidings.engine.updates.executor import Core
from tidings.protocol.sparql_http import Kind
from tidings.sparql.algebra import Dataset, Modify, Node
from tidings.sparql.algebra.complexity import check_parts, parts_of
from tidings.sparql.parser import parse_query, parse_update

SECONDS = 5.0
"""Time limit for a long text, which a fork parses."""


async def check(
    core: Core, matching: Matching, forks: Forks, kind: Kind, text: str, dataset: Dataset | None, client: str | None
) -> tuple[str, ...]:
    """Warnings about a request. Raises what is wrong with it."""
    read = partial(_read, core, matching, kind, text, dataset)
    return read() if len(text) <= LONG_QUERY else await forks.run(read, seconds=SECONDS, client=client)


def _read(core: Core, matching: Matching, kind: Kind, text: str, dataset: Dataset | None) -> tuple[str, ...]:
    if kind == "query" and is_approximate(text):
        matching.query_for(text)
        return ()
    read = tuple(_parsed(core, kind, text, dataset))
    check_parts(sum(parts_of(pattern) for pattern, _ in read), core.most_parts)
    return tuple(warning for _, warnings in read for warning in warnings)


def _parsed(core: Core, kind: Kind, text: str, dataset: Dataset | None) -> Iterator[tuple[Node, tuple[str, ...]]]:
    if kind == "query":
        query = parse_query(text, core.base, dataset)
        yield query.pattern, query.warnings
        return
    for operation in parse_update(text, core.base, dataset):
        if isinstance(operation, Modify):
            yield operation.pattern, operation.warnings
