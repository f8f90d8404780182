"""Due times are those of a dict that is sorted each time; whoever changes their mind takes no room."""

from hypothesis import given
from hypothesis import strategies as st

from tidings.engine.due_times import DueTimes

puts = st.tuples(st.integers(0, 5), st.none() | st.integers(0, 9))


@given(st.lists(puts | st.integers(0, 9), max_size=40))
def test_they_come_in_order_each_at_the_time_that_was_said_last(steps: list[tuple[int, int | None] | int]) -> None:
    times: DueTimes[int] = DueTimes()
    naive: dict[int, int] = {}
    for step in steps:
        if isinstance(step, int):
            due = sorted((at, key) for key, at in naive.items() if at <= step)
            assert sorted((at, key) for key, at in times.due(step)) == due
            naive = {key: at for key, at in naive.items() if at > step}
        else:
            key, at = step
            times.put(key, at)
            naive.pop(key, None)
            if at is not None:
                naive[key] = at
        assert times.next() == min(naive.values(), default=None)
        assert dict(times.items()) == naive


def test_those_of_one_instant_come_as_they_were_put_and_the_rest_stays_for_whoever_reads_on() -> None:
    times: DueTimes[str] = DueTimes()
    for key in "cab":
        times.put(key, 1)
    assert next(times.due(1)) == ("c", 1)
    assert [key for key, _ in times.due(1)] == ["a", "b"]


def test_whoever_has_nothing_to_do_any_more_takes_no_room() -> None:
    times: DueTimes[int] = DueTimes()
    for key in range(1000):
        times.put(key, key)
    for key in range(999):
        times.put(key, None)
    assert times.next() == 999
    assert len(times._heap) < 100
