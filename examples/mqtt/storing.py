"""The Big Data Storing Service, an aggregator: writes every new value of an observation, with its time, to a store."""

from typing import Any

from tidings.client import Aggregator, Application, Row


def storing_service(app: Application) -> Aggregator:
    """An aggregator from OBSERVATIONS_VALUES to STORE_OBSERVATION, which goes to another store. This may be away."""

    @app.aggregator("OBSERVATIONS_VALUES", "STORE_OBSERVATION")
    def store(row: Row) -> dict[str, Any]:
        return {name: row[name] for name in ("observation", "unit", "value")}

    return store
