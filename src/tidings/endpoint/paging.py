"""Rows of which there are more than an endpoint gives in one answer: page by page, sorted by it.

They are sorted in a subquery: Virtuoso sorts many rows nowhere else.
"""

from collections.abc import Callable

from tidings.endpoint.connection import AnswerCut, Connection
from tidings.model.results import Row


async def all_rows(
    connection: Connection, text: str, sorted_text: Callable[[], str], limit: int | None, most: int | None = None
) -> list[Row]:
    """The answer to a SELECT; `sorted_text` is the same with its rows in some order, and `limit` is how many rows fit
    into an answer, as far as that is known. If there are more than `most`, some of them."""
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
