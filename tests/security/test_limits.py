"""Token buckets: so much at once, so much in the long run, and no memory without bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.making import Clock
from tidings.security.limits import Limiter, Rate, neighbourhood


def test_a_burst_and_then_the_rate(clock: Clock) -> None:
    limiter = Limiter(Rate(3, 0.5), clock.monotonic)
    assert [limiter.take("a") for _ in range(4)] == [0.0, 0.0, 0.0, 2.0]
    assert limiter.take("b") == 0.0
    clock.pass_by(1)
    assert limiter.take("a") == 1.0
    clock.pass_by(1)
    assert limiter.take("a") == 0.0
    clock.pass_by(1_000)
    assert [limiter.take("a") == 0.0 for _ in range(4)] == [True, True, True, False]


@given(st.lists(st.floats(0, 5), max_size=60), st.integers(1, 5), st.floats(0.1, 3))
def test_in_no_time_may_more_be_done_than_the_rate_says(pauses: list[float], burst: int, per_second: float) -> None:
    clock = Clock()
    limiter = Limiter(Rate(burst, per_second), clock.monotonic)
    done: list[float] = []
    for pause in pauses:
        clock.pass_by(pause)
        if limiter.take("a") == 0.0:
            done.append(clock.seconds)
    for first in range(len(done)):
        for last in range(first, len(done)):
            assert last - first + 1 <= burst + (done[last] - done[first]) * per_second + 1e-6


def test_memory_is_bounded(clock: Clock) -> None:
    limiter = Limiter(Rate(1, 1), clock.monotonic, most=100)
    for number in range(100_000):
        limiter.take(str(number))
    assert len(limiter) == 100


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("testclient", "testclient"),
    ],
)
def test_what_counts_as_one_address(address: str, expected: str) -> None:
    assert neighbourhood(address) == expected
