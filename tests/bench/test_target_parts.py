"""The parts that targets are made of, and the doubles that stand in for them."""

import pytest

from bench.doubles import Double, duplicating, dying, losing, right, swapping
from bench.targets import POWERS, heard, powers
from tidings.bench.targets import Arrival, Target
from tidings.bench.targets.errors import TargetFailed
from tidings.bench.targets.tidings_sse import Events
from tidings.bench.targets.wire.inbox import Inbox
from tidings.bench.targets.wire.rows import read_rows
from tidings.model.errors import TidingsError
from tidings.model.terms import FALSE, TRUE, literal
from waiting import asynchronous

# -- parts ------------------------------------------------------------------------------------------------------


def test_events_are_read_from_pieces_of_any_size() -> None:
    stream = b"retry: 1000\nid: x#0\ndata: one\n\n:\n\nevent: error\ndata: two\ndata: lines\n\ndata: unfinished"
    for size in (1, 2, 7, 1000):
        events = Events()
        pieces = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert [data for piece in pieces for data in events.feed(piece)] == [b"one", b"two\nlines"]


@pytest.mark.parametrize(("bindings", "row"), [("", FALSE), ('{"__ASK_RETVAL":{"type":"literal","value":"1"}}', TRUE)])
def test_virtuosos_way_to_answer_ask_is_understood(bindings: str, row: str) -> None:
    assert read_rows(b'{"head":{"vars":["__ASK_RETVAL"]},"results":{"bindings":[%b]}}' % bindings.encode()) == [(row,)]


def test_what_are_no_results_is_told() -> None:
    with pytest.raises(TargetFailed, match="no results"):
        read_rows(b"<html>")


@asynchronous
async def test_an_inbox_that_overflows_says_so_after_all_that_it_holds() -> None:
    async def end() -> None: ...

    inbox = Inbox(end, most=2)
    for number in range(4):
        inbox.put(Arrival(0.0, number, (), ()))
    assert [told.number for told in await heard(inbox, 2)] == [0, 1]
    with pytest.raises(TargetFailed, match="more than 2 notifications"):
        await heard(inbox, 1)


# -- doubles ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("double", "numbers"),
    [
        (right(), [0, 1, 2, 3, 4, 5, 6, 7]),
        (losing(3), [0, 1, 2, 4, 5, 7]),
        (duplicating(3), [0, 1, 2, 3, 3, 4, 5, 6, 6, 7]),
        (swapping(3), [0, 1, 2, 4, 3, 5, 7, 6]),
        (swapping(2), [0, 1, 3, 2, 5, 4, 7, 6]),
        (right(numbered=False), [None] * 8),
    ],
    ids=lambda value: value.description.name if isinstance(value, Double) else "",
)
@asynchronous
async def test_doubles_are_wrong_as_they_should_be(double: Double, numbers: list[int | None]) -> None:
    target: Target = double
    await target.open()
    listening = await target.subscribe(POWERS)
    for number in range(1, 8):
        await target.insert(powers(str(number)))
    told = await heard(listening, len(numbers))
    assert [one.number for one in told] == numbers
    assert all(one.added == ((literal(str(one.number)),),) for one in told if one.number)
    assert len(await target.query(POWERS)) == 7
    await target.clear()
    assert await target.query("ASK { ?s ?p ?o }") == [(FALSE,)]
    await target.close()
    assert (double.opened, double.cleared, double.closed) == (1, 1, 1)


@asynchronous
async def test_a_double_dies_in_the_middle() -> None:
    target: Target = dying(3)
    listening = await target.subscribe(POWERS)
    for number in range(2):
        await target.insert(powers(str(number)))
    with pytest.raises(TargetFailed, match="the last words"):
        await target.insert(powers("3"))
    assert len(await heard(listening, 3)) == 3
    for call in (heard(listening, 1), target.query(POWERS), target.subscribe(POWERS), target.clear()):
        with pytest.raises(TidingsError, match="dying 3 has ended"):
            await call
