"""Formats figures for people: three significant digits, units, and names of what a test does."""

from collections.abc import Sequence
from datetime import UTC, datetime

ABOUT = {
    "update": "Time to insert n triples in one request, as the client sees it.",
    "query": "Time from asking to having the whole answer.",
    "subscription": "Time from sending an update to having its notification.",
    "stress": "Rising load, until the bound on latency is missed. Time runs from when an update was due, not sent.",
    "mixed": "The lighting city with all its subscriptions, and updates at a steady rate that waits for no answer.",
    "lighting": "An experiment of the SPS paper: all subscriptions at once, one update after the other.",
    "chat": "The chat of the SEPA paper: each primitive in turn.",
    "soak": "One value replaced again and again for a long time, with memory watched.",
}
ACROSS = {
    "update": "triples",
    "query": "triples",
    "subscription": "subscribers",
    "stress": "updates/s",
    "lighting": "subscriptions",
}
LOADS = ("stress", "mixed", "soak")
"""Kinds of tests whose latencies are in the histogram; their samples are percentiles of it."""


def duration(ms: float) -> str:
    """`0.183 ms`, `29.1 ms`, `1.25 s`."""
    if ms >= 1000:
        return f"{digits(ms / 1000)} s"
    return f"{digits(ms)} ms"


def digits(value: float) -> str:
    """Three significant digits, without an exponent for usual figures."""
    size = abs(value)
    if size >= 99.95:
        return f"{value:,.0f}"
    if size >= 9.995:
        return f"{value:.1f}"
    if size >= 0.9995:
        return f"{value:.2f}"
    return f"{value:.3g}" if size else "0"


def times(ratio: float) -> str:
    """`3.6 times`, `92 times`."""
    return f"{ratio:,.0f} times" if ratio >= 20 else f"{ratio:.1f} times"


def counted(count: float, one: str, many: str | None = None) -> str:
    return f"{count:,.0f} {one if count == 1 else many or one + 's'}"


def listed(words: Sequence[str]) -> str:
    """`a, b and c`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def indicator(name: str, value: float) -> str:
    """An indicator with its unit."""
    if name in {"NL_min", "NL_max"}:
        return duration(value)
    if name == "LHR":
        return f"{value:.2f} %"
    if name == "loss_ratio":
        return f"{100 * value:.3g} %"
    if name in {"notifications", "duplicates", "disordered"}:
        return f"{value:,.0f}"
    return large(value)


def large(value: float) -> str:
    """`20.1 M`, `117 k`, `1,004`, `3.8`."""
    if value >= 999_500:
        return f"{value / 1e6:.3g} M"
    if value >= 9_995:
        return f"{value / 1e3:.3g} k"
    return f"{value:,.0f}" if value == int(value) else digits(value)


def moment(iso: str) -> str:
    """`2026-11-14 09:30 UTC` for `2026-11-14T09:30:12Z`; a text that is no time stays as it is."""
    try:
        return f"{datetime.fromisoformat(iso).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return iso


def span(seconds: float) -> str:
    """`6 min 53 s`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
