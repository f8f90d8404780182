"""What is counted, for Prometheus. Everything is read when it is asked for: counting costs nothing beyond the counting.

T_UPDATE, T_LUTT, T_BOOSTER and T_NOTIFY are the components of the time of an update in the SPS paper (section IV).
"""

from collections.abc import Callable, Iterator

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from tidings import __version__
from tidings.broker.broker import Broker
from tidings.gates.http.routing import accept_of

Value = Callable[[Broker], float]

GAUGES: dict[str, tuple[str, Value]] = {
    "commit_sequence": ("Number of the last commit", lambda b: b.chronicle.seq),
    "quads": ("Quads in the store", lambda b: len(b.engine.core.store)),
    "graphs": ("Named graphs in the store", lambda b: len(b.engine.core.store.named)),
    "sessions": ("Clients connected over WebSocket or an event stream", lambda b: len(b.sessions)),
    "subscriptions": ("Subscriptions", lambda b: len(b.subscriptions)),
    "subscriptions_absent": ("Subscriptions whose client is away", lambda b: b.subscriptions.absent),
    "updates_queued": ("Updates accepted and not answered yet", lambda b: b.updates.accepted),
    "delayed_waiting": ("Delayed updates that wait for their time", lambda b: len(b.delays.agenda)),
    "forks_running": ("Copies of the process at work", lambda b: len(b.forks.running)),
    "feed_followers": ("Clients that follow the log", lambda b: len(b.chronicle.followers)),
}
COUNTERS: dict[str, tuple[str, Value]] = {
    "commits": ("Commits since the start", lambda b: b.engine.timing.commits),
    "commit_quads": ("Quads added or removed by commits", lambda b: b.engine.timing.quads),
    "updates_done": ("Updates carried out", lambda b: b.updates.done),
    "updates_failed": ("Updates that could not be carried out", lambda b: b.updates.failed),
    "updates_refused": ("Updates turned away, the queue being full", lambda b: b.updates.refused),
    "updates_aside": ("Updates worked out in a fork", lambda b: b.updates.aside),
    "queries_done": ("Queries answered", lambda b: b.queries.done),
    "queries_aside": ("Queries evaluated in a fork", lambda b: b.queries.aside),
    "notifications_sent": ("Notifications handed to a connection", lambda b: b.subscriptions.outboxes.sent),
    "notifications_merged": ("Changes added to a waiting notification", lambda b: b.subscriptions.outboxes.merged),
    "clients_dropped_slow": ("Clients let go because they took too little", lambda b: b.subscriptions.outboxes.dropped),
    "subscriptions_resumed": ("Subscriptions resumed where they were", lambda b: b.subscriptions.resumed),
    "subscriptions_refreshed": ("Subscriptions resumed with a fresh answer", lambda b: b.subscriptions.refreshed),
    "subscriptions_released": ("Subscriptions that nobody came back for", lambda b: b.subscriptions.released),
    "delayed_done": ("Delayed updates whose time came", lambda b: b.delays.done),
    "delayed_failed": ("Delayed updates that failed", lambda b: b.delays.failed),
    "forks_made": ("Copies of the process made", lambda b: b.forks.made),
    "lutt_hits": ("Subscriptions that a commit might have concerned", lambda b: b.engine.timing.hits),
    "lutt_notifications": ("Subscriptions that a commit did concern", lambda b: b.engine.timing.notifications),
    "t_update_seconds": ("T_UPDATE: from text to delta", lambda b: b.engine.timing.update),
    "t_lutt_seconds": ("T_LUTT: which subscriptions may be concerned", lambda b: b.engine.timing.lutt),
    "t_booster_seconds": ("T_BOOSTER: the plans' incremental step", lambda b: b.engine.timing.booster),
    "t_notify_seconds": ("T_NOTIFY: notifications made of changes", lambda b: b.engine.timing.notify),
    "log_batches": ("Batches written to the log", lambda b: b.chronicle.scribe.batches),
    "log_failures": ("Batches that could not be written", lambda b: b.chronicle.scribe.failures),
    "log_bytes": ("Bytes written to the log", lambda b: 0 if b.disk is None else b.disk.journal.written),
    "snapshots_written": ("Snapshots written", lambda b: 0 if b.snapshots is None else b.snapshots.written),
    "snapshots_failed": ("Snapshots that failed", lambda b: 0 if b.snapshots is None else b.snapshots.failed),
}


class BrokerCollector(Collector):
    """The broker's own counters, under names that begin with `tidings_`."""

    def __init__(self, broker: Broker, started: int) -> None:
        self._broker = broker
        self._started = started

    def describe(self) -> list[Metric]:
        """Nothing in advance: registering must not ask a broker that is being built."""
        return []

    def collect(self) -> Iterator[Metric]:
        broker = self._broker
        build = GaugeMetricFamily("tidings_build_info", "The version", labels=["version"])
        build.add_metric([__version__], 1)
        yield build
        uptime = (broker.chronicle.clock() - self._started) / 1e6
        yield GaugeMetricFamily("tidings_uptime_seconds", "Seconds since the start", uptime)
        for name, (text, value) in GAUGES.items():
            yield GaugeMetricFamily(f"tidings_{name}", text, value(broker))
        for name, (text, value) in COUNTERS.items():
            yield CounterMetricFamily(f"tidings_{name}", text, value(broker))


class Metrics:
    """Answers `GET /metrics`: the broker, its process, its garbage collector."""

    def __init__(self, broker: Broker, started: int) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(BrokerCollector(broker, started))
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)

    async def answer(self, request: Request) -> Response:
        encode, content_type = choose_encoder(accept_of(request) or "")
        return Response(encode(self._registry), headers={"content-type": content_type})
