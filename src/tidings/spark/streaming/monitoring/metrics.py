"""The counters of a job for Prometheus, on a port of this machine."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from tidings.spark.streaming.errors import StreamUnusable
from tidings.spark.streaming.monitoring.figures import Figures

Value = Callable[[Figures], float | None]

GAUGES: dict[str, tuple[str, Value]] = {
    "commit_sequence": ("The last commit that everybody was told of", lambda f: f.commit),
    "lag_commits": ("Commits that the job is behind the log", lambda f: f.lag_commits),
    "lag_seconds": ("Time between the last commit told and the last of the log", lambda f: f.lag_seconds),
    "batch_seconds": ("Median of what recent batches took", lambda f: f.batch_seconds),
    "members": ("Subscriptions", lambda f: f.members),
    "members_failed": ("Subscriptions that are told nothing any more", lambda f: len(f.failed)),
    "units": ("Units", lambda f: f.units),
    "partitions": ("Partitions of the state", lambda f: f.partitions),
    "state_quads": ("Quads in the state of all units", lambda f: f.state_quads),
    "state_bytes": ("Bytes of the state of all units", lambda f: f.state_bytes),
}
COUNTERS: dict[str, tuple[str, Value]] = {
    "rows": ("Rows that units were given", lambda f: f.rows),
    "told": ("Notifications told", lambda f: f.told),
}


class StreamCollector(Collector):
    """The figures as metrics whose names begin with `tidings_stream_`."""

    def __init__(self, figures: Callable[[], Figures | None]) -> None:
        self._figures = figures

    def describe(self) -> list[Metric]:
        """No metrics, because there may be no figures yet."""
        return []

    def collect(self) -> Iterator[Metric]:
        figures = self._figures()
        if figures is None:
            return
        for families, kind in ((GAUGES, GaugeMetricFamily), (COUNTERS, CounterMetricFamily)):
            for name, (text, value) in families.items():
                found = value(figures)
                if found is not None:
                    yield kind(f"tidings_stream_{name}", text, found)
        hottest = GaugeMetricFamily("tidings_stream_unit_rows", "Rows of recent batches for a unit", labels=["unit"])
        for unit in figures.hottest:
            hottest.add_metric([str(unit.unit)], unit.rows)
        yield hottest


@contextmanager
def serving(port: int, figures: Callable[[], Figures | None]) -> Iterator[int]:
    """Serve `GET /metrics` within this context. Yields the port, a free one for 0. Raises StreamUnusable."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(StreamCollector(figures))
    try:
        server, thread = start_http_server(port, "127.0.0.1", registry)
    except OSError as error:
        raise StreamUnusable(f"port {port} cannot be used for metrics: {error.strerror}") from error
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
