"""What changed is told, what is noise is not, and what cannot be said is called so."""

from random import Random

import msgspec
import pytest

from bench.samples import a_run
from tidings.bench.results.comparison import REPETITIONS, Difference, Verdict, compare, ratio_interval, table
from tidings.bench.results.measured import Measurement, Run
from tidings.bench.results.statistics import mean, median


def run_of(*measurements: Measurement) -> Run:
    return msgspec.structs.replace(a_run(), measurements=list(measurements))


def point(samples: list[float], n: int | None = 1, *, wrong: tuple[str, ...] = ()) -> Measurement:
    return Measurement(target="t", test="x", kind="update", n=n, samples=tuple(samples), wrong=wrong)


def noisy(rng: Random, middle: float, count: int = 20) -> list[float]:
    return [rng.lognormvariate(0, 0.1) * middle for _ in range(count)]


def verdict(first: list[float], second: list[float]) -> Verdict:
    (found,) = compare(run_of(point(first)), run_of(point(second)))
    return found.verdict


def test_a_run_compared_with_itself_has_not_changed() -> None:
    found = compare(a_run(), a_run())
    assert not any(each.changed for each in found)
    assert {each.verdict for each in found} == {Verdict.SAME, Verdict.TOO_FEW, Verdict.WRONG}


def test_half_as_slow_again_is_slower_everywhere() -> None:
    found = compare(a_run(1), a_run(2, slower=1.5))
    for each in found:
        if each.test in {"update", "notify"}:
            assert each.verdict is Verdict.SLOWER
            assert each.ratio == pytest.approx(1.5, rel=0.25)
    assert all(
        each.verdict is Verdict.FASTER for each in compare(a_run(2, slower=1.5), a_run(1)) if each.test == "update"
    )


@pytest.mark.no_cover
@pytest.mark.parametrize("figure", [mean, median])
def test_noise_is_rarely_taken_for_a_change(figure: type) -> None:
    rng = Random(11)
    intervals = [ratio_interval(noisy(rng, 5, 8), noisy(rng, 5, 8), figure) for _ in range(60)]
    assert sum(1 not in interval for interval in intervals) <= 2


def test_a_tenth_more_is_seen_through_the_noise() -> None:
    rng = Random(12)
    assert verdict(noisy(rng, 5, 60), noisy(rng, 6, 60)) is Verdict.SLOWER
    assert verdict(noisy(rng, 6, 60), noisy(rng, 5, 60)) is Verdict.FASTER


def test_few_samples_say_nothing() -> None:
    few = [1.0] * (REPETITIONS - 1)
    assert verdict(few, [2.0] * 50) is Verdict.TOO_FEW
    assert verdict([1.0] * 50, []) is Verdict.TOO_FEW
    assert verdict([0.0] * 9, [0.0] * 9) is Verdict.TOO_FEW


def test_wrong_answers_are_not_compared() -> None:
    (found,) = compare(run_of(point([1.0] * 9, wrong=("no",))), run_of(point([2.0] * 9)))
    assert found == Difference("x", "t", 1, Verdict.WRONG)


def test_points_of_one_run_only_are_told() -> None:
    found = compare(run_of(point([1.0] * 9, n=1)), run_of(point([2.0] * 9, n=2)))
    assert [(each.n, each.verdict) for each in found] == [(1, Verdict.GONE), (2, Verdict.NEW)]
    assert (found[0].first, found[1].second) == (1.0, 2.0)


@pytest.mark.no_cover
def test_the_same_is_said_each_time() -> None:
    assert compare(a_run(1), a_run(2)) == compare(a_run(1), a_run(2))


def test_the_table_lines_up_and_sums_up() -> None:
    text = table(compare(a_run(1), a_run(2, slower=1.5)))
    lines = text.splitlines()
    assert lines[0].split() == ["test", "target", "n", "first", "second", "ratio", "interval", "verdict"]
    column = lines[0].index("verdict")
    rows = lines[1 : lines.index("")]
    assert all(line[column - 1] == " " and line[column] != " " for line in rows)
    assert "slower" in lines[-1]
    assert "6 too few samples" in lines[-1]
    assert table([]).endswith("nothing to compare\n")
