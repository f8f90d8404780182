"""Metrics for Prometheus. The counters of the broker are read only when Prometheus asks.

T_UPDATE, T_LUTT, T_BOOSTER and T_NOTIFY are the components of the time of an update in the SPS paper (section IV).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from math import inf

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from tidings import __version__
from tidings.broker.broker import Broker
from tidings.broker.latency import Latency
from tidings.broker.status import BrokerStatus
from tidings.gates.asking import Guard
from tidings.gates.figures import Figures, no_figures
from tidings.gates.gate import Gate
from tidings.gates.http.routing import accept_of
from tidings.gates.http.security.identification import administrator
from tidings.gates.quotas import Quotas

Value = Callable[[BrokerStatus], float]


def _is_well(status: BrokerStatus) -> bool:
    return status.record is None or status.record.state == "ok"


GAUGES: dict[str, tuple[str, Value]] = {
    "commit_sequence": ("Number of the last commit", lambda s: s.commit),
    "quads": ("Quads in the store", lambda s: s.quads),
    "graphs": ("Named graphs in the store", lambda s: s.graphs),
    "sessions": ("Clients connected over WebSocket or an event stream", lambda s: s.sessions),
    "subscriptions": ("Subscriptions", lambda s: s.subscriptions),
    "subscriptions_approximate": ("Subscriptions that are approximate", lambda s: s.approximate),
    "subscriptions_absent": ("Subscriptions whose client is away", lambda s: s.absent),
    "updates_queued": ("Updates accepted and not answered yet", lambda s: s.updates_waiting),
    "updates_limit": ("Updates that may be queued; others are refused", lambda s: s.updates_limit),
    "delayed_waiting": ("Delayed updates that wait for their time", lambda s: s.delayed_waiting),
    "forks_running": ("Copies of the process at work", lambda s: s.forks_running),
    "feed_followers": ("Clients that follow the log", lambda s: s.followers),
    "plans_behind": ("Plans that are brought up to date in forks", lambda s: s.behind),
    "log_broken": ("1 if nothing more can be made durable", lambda s: s.log is not None and s.log.broken),
    "endpoint_well": ("1 if there is no endpoint behind the broker, or it is well", _is_well),
    "endpoint_age_seconds": ("Seconds since the endpoint last agreed", lambda s: s.record.age if s.record else 0),
    "endpoint_waiting": ("Requests that wait for the endpoint", lambda s: s.record.waiting if s.record else 0),
    "log_behind_bytes": ("Bytes of log that no snapshot covers", lambda s: s.log.behind if s.log else 0),
    "snapshot_every_bytes": ("Bytes of log after which a snapshot is due", lambda s: s.policy.snapshot_bytes),
}
COUNTERS: dict[str, tuple[str, Value]] = {
    "commits": ("Commits since the start", lambda s: s.timing.commits),
    "commit_quads": ("Quads added or removed by commits", lambda s: s.timing.quads),
    "updates_done": ("Updates carried out", lambda s: s.updates_done),
    "updates_failed": ("Updates that could not be carried out", lambda s: s.updates_failed),
    "updates_refused": ("Updates turned away, the queue being full", lambda s: s.updates_refused),
    "updates_aside": ("Updates worked out in a fork", lambda s: s.updates_aside),
    "queries_done": ("Queries answered", lambda s: s.queries_done),
    "queries_aside": ("Queries evaluated in a fork", lambda s: s.queries_aside),
    "notifications_sent": ("Notifications handed to a connection", lambda s: s.notified),
    "notifications_merged": ("Changes added to a waiting notification", lambda s: s.merged),
    "clients_dropped_slow": ("Clients let go because they took too little", lambda s: s.dropped_slow),
    "subscriptions_resumed": ("Subscriptions resumed where they were", lambda s: s.resumed),
    "subscriptions_refreshed": ("Subscriptions resumed with a fresh answer", lambda s: s.refreshed),
    "subscriptions_released": ("Subscriptions that nobody came back for", lambda s: s.released),
    "plans_aside": ("Forks that brought plans up to date", lambda s: s.rounds_aside),
    "subscriptions_let_go": ("Subscriptions ended because they cost too much", lambda s: s.let_go),
    "events": ("Events matched with approximate subscriptions", lambda s: s.events),
    "matches": ("Matches of events and approximate subscriptions", lambda s: s.matches),
    "events_skipped": ("Subjects not described, and patterns not tried to their end", lambda s: s.events_skipped),
    "delayed_done": ("Delayed updates whose time came", lambda s: s.delayed_done),
    "delayed_failed": ("Delayed updates that failed", lambda s: s.delayed_failed),
    "forks_made": ("Copies of the process made", lambda s: s.forks_made),
    "lutt_hits": ("Subscriptions that a commit might have concerned", lambda s: s.timing.hits),
    "lutt_notifications": ("Subscriptions that a commit did concern", lambda s: s.timing.notifications),
    "t_update_seconds": ("T_UPDATE: from text to delta", lambda s: s.timing.update),
    "t_lutt_seconds": ("T_LUTT: which subscriptions may be concerned", lambda s: s.timing.lutt),
    "t_booster_seconds": ("T_BOOSTER: the plans' incremental step", lambda s: s.timing.booster),
    "t_notify_seconds": ("T_NOTIFY: notifications made of changes", lambda s: s.timing.notify),
    "endpoint_requests": ("Updates sent to the endpoint", lambda s: s.record.requests if s.record else 0),
    "endpoint_commits": ("Commits that the endpoint has taken", lambda s: s.record.commits if s.record else 0),
    "endpoint_outages": ("Times that the endpoint was away", lambda s: s.record.outages if s.record else 0),
    "reconciliations": ("Comparisons with the endpoint", lambda s: s.record.reconciliations if s.record else 0),
    "log_batches": ("Batches written to the log", lambda s: s.batches),
    "log_failures": ("Batches that could not be written", lambda s: s.batches_failed),
    "log_bytes": ("Bytes written to the log", lambda s: 0 if s.log is None else s.log.bytes),
    "snapshots_written": ("Snapshots written", lambda s: 0 if s.log is None else s.log.snapshots_written),
    "snapshots_failed": ("Snapshots that failed", lambda s: 0 if s.log is None else s.log.snapshots_failed),
}
HISTOGRAMS: dict[str, tuple[str, Callable[[BrokerStatus], Latency]]] = {
    "update_seconds": ("From accepting an update to answering it", lambda s: s.update_latency),
    "log_write_seconds": ("Writing a batch to the log, fsync included", lambda s: s.write_latency),
}
OF_GATES: dict[str, tuple[str, Callable[[Gate], int]]] = {
    "gate_requests": ("Requests that came by a gate", lambda gate: gate.counts.requests),
    "gate_errors": ("Requests that were refused at a gate", lambda gate: gate.counts.errors),
    "gate_notifications": ("Notifications that went out by a gate", lambda gate: gate.counts.notifications),
}
"""Counters, by the gate; HTTP and WebSocket are not among them."""


class BrokerCollector(Collector):
    """The broker's own counters, under names that begin with `tidings_`."""

    def __init__(
        self, broker: Broker, guard: Guard, quotas: Quotas, started: int, figures: Figures, gates: Sequence[Gate] = ()
    ) -> None:
        self._broker = broker
        self._guard = guard
        self._quotas = quotas
        self._figures = figures
        self._started = started
        self._gates = gates

    def describe(self) -> list[Metric]:
        """Nothing: prometheus_client calls it at registration, when the broker is not complete yet."""
        return []

    def collect(self) -> Iterator[Metric]:
        status = self._broker.status()
        build = GaugeMetricFamily("tidings_build_info", "The version", labels=["version"])
        build.add_metric([__version__], 1)
        yield build
        uptime = (status.now - self._started) / 1e6
        yield GaugeMetricFamily("tidings_uptime_seconds", "Seconds since the start", uptime)
        for name, (text, value) in GAUGES.items():
            yield GaugeMetricFamily(f"tidings_{name}", text, value(status))
        for name, (text, value) in COUNTERS.items():
            yield CounterMetricFamily(f"tidings_{name}", text, value(status))
        yield _by_code("tidings_refusals", "Requests refused for want of a token or of rights", self._guard.refusals)
        yield _by_code("tidings_limits_met", "Requests refused because of a limit", self._quotas.refusals)
        yield from self._of_gates()
        of_gates = chain.from_iterable(gate.figures() for gate in self._gates)
        for figure in chain(self._guard.figures(), self._figures(), of_gates):
            family = CounterMetricFamily if figure.grows else GaugeMetricFamily
            yield family(f"tidings_{figure.name}", figure.text, figure.value)
        for name, (text, latency) in HISTOGRAMS.items():
            measured = latency(status)
            buckets = [("+Inf" if bound == inf else str(bound), count) for bound, count in measured.buckets()]
            yield HistogramMetricFamily(f"tidings_{name}", text, buckets, measured.seconds)

    def _of_gates(self) -> Iterator[Metric]:
        if not self._gates:
            return
        clients = GaugeMetricFamily("tidings_gate_clients", "Clients of a gate", labels=["gate"])
        for gate in self._gates:
            clients.add_metric([gate.name], gate.clients)
        yield clients
        for name, (text, value) in OF_GATES.items():
            family = CounterMetricFamily(f"tidings_{name}", text, labels=["gate"])
            for gate in self._gates:
                family.add_metric([gate.name], value(gate))
            yield family


def _by_code(name: str, text: str, counts: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(name, text, labels=["code"])
    for code, count in counts.items():
        family.add_metric([code], count)
    return family


class Metrics:
    """Answers `GET /metrics`: the broker, its process, its garbage collector."""

    def __init__(
        self,
        broker: Broker,
        guard: Guard,
        quotas: Quotas,
        started: int,
        figures: Figures = no_figures,
        gates: Sequence[Gate] = (),
    ) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(BrokerCollector(broker, guard, quotas, started, figures, gates))
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)

    async def answer(self, request: Request) -> Response:
        administrator(request)  # the counters are about all graphs together
        encode, content_type = choose_encoder(accept_of(request) or "")
        return Response(encode(self._registry), headers={"content-type": content_type})
