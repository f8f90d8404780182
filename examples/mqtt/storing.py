"""The Big Data Storing Service, an aggregator: every new value of an observation, with its time, into another store."""

from typing import Any

from tidings.client import Aggregator, Application, Row


def storing_service(app: Application) -> Aggregator:
    """From OBSERVATIONS_VALUES to STORE_OBSERVATION, whose store is another one and may be away for a while."""

    @app.aggregator("OBSERVATIONS_VALUES", "STORE_OBSERVATION")
    def store(row: Row) -> dict[str, Any]:
        return {name: row[name] for name in ("observation", "unit", "value")}

    return store
