"""Fetches answers with more rows than an endpoint returns at once, in pages of rows that the endpoint sorts.

It sorts them in a subquery, because Virtuoso cannot sort many rows elsewhere.
"""

from collections.abc import Callable

from tidings.endpoint.connection import AnswerCut, Connection
from tidings.model.results import Row


async def all_rows(
    connection: Connection, text: str, sorted_text: Callable[[], str], limit: int | None, most: int | None = None
) -> list[Row]:
    """The answer to a SELECT. `sorted_text` is the same query with sorted rows; `limit` is how many rows the endpoint
    returns at once, if known. If there are more than `most` rows, the answer may be incomplete."""
    try:
        rows = await connection.rows(text)
    except AnswerCut as cut:
        return await _in_pages(connection, sorted_text(), cut.rows, most)
    if limit is None or len(rows) < limit:
        return rows
    return await _in_pages(connection, sorted_text(), limit, most)


async def _in_pages(connection: Connection, text: str, limit: int, most: int | None) -> list[Row]:
    rows: list[Row] = []
    while most is None or len(rows) < most:
        page = await connection.rows(f"{text} LIMIT {limit} OFFSET {len(rows)}")
        rows += page
        if len(page) < limit:
            break
    return rows
