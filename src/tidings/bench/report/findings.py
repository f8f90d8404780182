"""The findings of a run, in sentences generated from its figures. They mention only differences that exceed noise."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from tidings.bench.report.words import ACROSS, LOADS, counted, digits, duration, listed, times
from tidings.bench.results.comparison import REPETITIONS, ratio_interval
from tidings.bench.results.histogram import Histogram
from tidings.bench.results.kpis import kpis
from tidings.bench.results.measured import Measurement, Run
from tidings.bench.results.published import as_published, experiment_of
from tidings.bench.results.statistics import CONFIDENCE, summarise

_FAULTS = ("lost", "duplicates", "disordered", "stale")


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence, what it is about, and whether it is a warning."""

    about: str
    text: str
    warning: bool = False


def findings(run: Run) -> list[Finding]:
    """The findings, the most important first; those about the same test are together."""
    told = [*_answers(run), *_deliveries(run)]
    for test in tests_of(run):
        told += _of_test(run, test)
        told += _landmarks(run, test)
    joined: list[Finding] = []
    for each in told:
        if joined and (joined[-1].about, joined[-1].warning) == (each.about, each.warning):
            each = Finding(each.about, f"{joined.pop().text} {each.text}", each.warning)  # noqa: PLW2901
        joined.append(each)
    return joined


def tests_of(run: Run) -> list[str]:
    return list(dict.fromkeys(each.test for each in run.measurements))


def sound(run: Run, test: str) -> list[Measurement]:
    """The measurements of a test without wrong answers, whose times are meaningful."""
    return [each for each in run.of(test) if not each.wrong]


def _answers(run: Run) -> Iterator[Finding]:
    wrong = [each for each in run.measurements if each.wrong]
    if wrong:
        names = listed(sorted({f"{each.target} in {each.test}" for each in wrong}))
        text = f"Wrong answers: {names}. Their times have no meaning and are in no table, chart or comparison."
        yield Finding("Answers", text, warning=True)
    elif run.measurements:
        yield Finding("Answers", f"All {counted(len(run.measurements), 'measurement')} gave the answers they should.")


def _of_test(run: Run, test: str) -> Iterator[Finding]:
    points = sound(run, test)
    if not points:
        return
    if points[0].kind in LOADS:
        yield from _load(test, points)
        return
    last = _last_point(points)
    if last and points[0].kind != "lighting":
        yield _ranking(test, last)
    yield from _growth(test, points)


def _last_point(points: list[Measurement]) -> list[Measurement]:
    """For each target, the measurement at the largest size that all targets have."""
    timed = [each for each in points if each.samples]
    sizes = [{each.n for each in timed if each.target == target} for target in {each.target for each in timed}]
    shared = set.intersection(*sizes) if sizes else set()
    largest = max(shared, key=lambda n: -1 if n is None else n, default=None)
    return [each for each in timed if each.n == largest] if shared else []


def _ranking(test: str, points: list[Measurement]) -> Finding:
    ranked = sorted(points, key=lambda each: summarise(each.samples).mean)
    best, others = ranked[0], ranked[1:]
    middle = summarise(best.samples).mean
    told = [_beside(best, other) for other in others]
    size = f" with {best.n:,} {ACROSS[best.kind]}" if best.n and best.kind in {"update", "query"} else ""
    few = min(len(each.samples) for each in ranked)
    care = f" Only {counted(few, 'sample')}{' each' if others else ''}: read with care." if few < REPETITIONS else ""
    beside = f"; {listed(told)}" if told else ""
    text = f"{best.target} takes {duration(middle)} on average{size}{beside}.{care}"
    return Finding(test, text)


def _beside(best: Measurement, other: Measurement) -> str:
    ratio = summarise(other.samples).mean / max(summarise(best.samples).mean, 1e-9)
    if min(len(best.samples), len(other.samples)) >= REPETITIONS:
        interval = ratio_interval(best.samples, other.samples, confidence=CONFIDENCE)
        if 1 in interval:
            return f"{other.target} the same, within noise"
    return f"{other.target} {times(ratio)} as long"


def _growth(test: str, points: list[Measurement]) -> Iterator[Finding]:
    for target in dict.fromkeys(each.target for each in points):
        own = sorted((each for each in points if each.target == target and each.n and each.samples), key=_size)
        if len(own) < 2:
            continue
        more = _size(own[-1]) / _size(own[0])
        grown = summarise(own[-1].samples).mean / max(summarise(own[0].samples).mean, 1e-9)
        less, more_than = grown < 0.8 * more, grown > 1.25 * more
        manner = "less than in proportion" if less else "more than in proportion" if more_than else "in proportion"
        ends = f"{_size(own[0]):,} to {_size(own[-1]):,} {ACROSS.get(own[0].kind, '')}".strip()
        text = f"From {ends} ({more:,.3g} times as many), {target} takes {grown:,.2g} times as long: {manner}."
        yield Finding(test, text)
        return  # one target is enough for a headline: the first, as configured


def _size(measurement: Measurement) -> int:
    return measurement.n or 0


def _load(test: str, points: list[Measurement]) -> Iterator[Finding]:
    told = []
    for best in highest_kept(points):
        tail = Histogram.from_json(best.histogram or {}).percentile(99)
        rate = digits(best.values.get("rate", 0.0))
        told.append(f"{best.target} carried out {rate} a second, with 99 % of notifications within {duration(tail)}")
    if told:
        offered = max(_size(each) for each in points)
        rising = points[0].kind == "stress"
        opening = "The most that met the bound: " if rising else f"Of {offered:,} updates a second offered, "
        yield Finding(test, f"{opening}{'; '.join(told)}.")


def highest_kept(points: list[Measurement]) -> list[Measurement]:
    """For each target under load, the point with the highest rate at which it kept all bounds."""
    best: dict[str, Measurement] = {}
    for each in points:
        if not each.histogram or not each.histogram.get("count") or each.values.get("missed"):
            continue
        known = best.get(each.target)
        if known is None or each.values.get("rate", 0.0) > known.values.get("rate", 0.0):
            best[each.target] = each
    return list(best.values())


def _deliveries(run: Run) -> Iterator[Finding]:
    complete: list[str] = []
    for target in dict.fromkeys(each.target for each in run.measurements):
        counts = [each.values for each in run.measurements if each.target == target and each.values.get("expected")]
        expected = sum(each["expected"] for each in counts)
        lost, twice, late, stale = (sum(each.get(what, 0) for each in counts) for what in _FAULTS)
        if lost or twice or late:
            share = f"{100 * lost / expected:.2g} %"
            text = f"{target} lost {lost:,.0f} of {expected:,.0f} notifications ({share}); {twice:,.0f} came twice, "
            yield Finding("Delivery", f"{text}{late:,.0f} out of order.", warning=True)
        if stale:
            text = f"{target} sent {counted(stale, 'notification')} of values that no update of the test had written"
            yield Finding("Delivery", f"{text}: old ones, say, from before the store was cleared.", warning=True)
        if expected and not (lost or twice or late or stale):
            complete.append(f"{target} ({expected:,.0f})")
    if complete:
        yield Finding("Delivery", f"All notifications came, once and in order: {listed(complete)}.")


def _landmarks(run: Run, test: str) -> Iterator[Finding]:
    """Rates of the paper's experiments, beside the published ones if they were of the same size."""
    if {each.kind for each in run.of(test)} != {"lighting"}:
        return
    for target, known in (run.kpis or kpis(run)).get(test, {}).items():
        experiment = experiment_of(test, known)
        if experiment is None or experiment.name not in test.upper() or "Ups" not in known:
            continue
        seen = f" ({digits(known['Ups_client'])} as the client sees it)" if "Ups_client" in known else ""
        rate = f"{target} carries out {digits(known['Ups'])} updates a second, as the SPS paper reckons{seen}"
        if all(as_published(each, experiment) for each in sound(run, test)):
            published = experiment.kpis["Ups"]
            beside = (
                f": {times(known['Ups'] / published)} the {published:g} that were published in 2016 for another "
                "engine on another machine."
            )
        else:
            beside = ". The city was not of the paper's size, so this is not to be read beside the published figures."
        yield Finding(test, rate + beside)


def noise(run: Run) -> str:
    """A sentence about the variation between repetitions."""
    spreads = [
        (summarise(each.samples).variation, each)
        for each in run.measurements
        if len(each.samples) >= REPETITIONS and not each.wrong and each.kind not in LOADS
    ]
    if not spreads:
        return (
            f"No point has {REPETITIONS} samples or more, so the noise of this run is not known. "
            "Read differences of less than a factor of two as no difference."
        )
    typical = median(spread for spread, _ in spreads)
    worst, where = max(spreads, key=lambda pair: pair[0])
    size = "" if where.n is None else f", n = {where.n:,}"
    return (
        f"The same thing done again typically differed by {100 * typical:.0f} % from its mean (one standard deviation, "
        f"median over {counted(len(spreads), 'point')}), at worst by {100 * worst:.0f} % "
        f"({where.target}, {where.test}{size}). "
        "Machines are noisy, and another run on the same machine can differ by more than this: "
        "ratios between targets of one run are worth more than times."
    )
