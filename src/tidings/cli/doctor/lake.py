"""Checks the history lake of the settings, without changing anything."""

from pathlib import Path

from tidings.cli.doctor.finding import Finding
from tidings.model.errors import TidingsError

_INGEST = "tidings history ingest"


def check_lake(path: Path) -> Finding:
    """Check a lake. This needs a package, which may be missing."""
    from tidings.model.access import Graphs
    from tidings.spark.lake.about import reach

    try:
        found = reach(path)
    except TidingsError as error:
        advice = f"have one made of the log of this broker: {_INGEST} --log ADDRESS --lake FOLDER"
        return Finding("history lake", "problem", str(error), advice)
    if not found.last:
        return Finding("history lake", "note", f"{path} is empty", f"{_INGEST} takes in what is in a log")
    reaches = f"{path} has the commits from {found.first:,} to {found.last:,}"
    if found.graphs != Graphs.ALL:
        return Finding("history lake", "note", f"{reaches}, of some graphs only", f"{_INGEST} --graphs says of which")
    return Finding("history lake", "ok", reaches)
