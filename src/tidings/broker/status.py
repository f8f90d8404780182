"""The state of a broker and its counters since its start, as one value."""

from typing import TYPE_CHECKING

from msgspec import Struct

from tidings.broker.latency import Latency
from tidings.broker.policy import Policy
from tidings.broker.record.seam import RecordStatus
from tidings.engine.timing import Timing
from tidings.log.journal import Durability
from tidings.log.layout import segments
from tidings.model.access import ALL_RIGHTS, Rights
from tidings.model.terms import DEFAULT_GRAPH

if TYPE_CHECKING:
    from tidings.broker.broker import Broker


class LogStatus(Struct, frozen=True):
    """The state of the log on disk."""

    durability: Durability
    commit: int
    """The last durable commit."""
    oldest: int
    """The first commit that the log has; earlier ones are in snapshots only."""
    bytes: int
    broken: bool
    snapshot: int
    """The last commit in the newest snapshot of this run; 0 if there is none."""
    snapshots_written: int
    snapshots_failed: int
    behind: int
    """Bytes of log that no snapshot covers."""


class ExternalStatus(Struct, frozen=True):
    """The state of an external engine that works out the answers of subscriptions, such as a job on Spark."""

    batch: int
    """The last batch whose notifications were all sent; -1 before the first."""
    waiting: int
    """Subscriptions that have no first answer yet."""


class BrokerStatus(Struct, frozen=True):
    """Everything that /status and /metrics say of a broker."""

    now: int
    """Microseconds since 1970."""
    commit: int
    quads: int
    graphs: int
    sessions: int
    followers: int
    """Clients that follow the log."""

    subscriptions: int
    plans: int
    """The plans that keep their answers; many subscriptions share one."""
    absent: int
    """Subscriptions whose client is away."""
    notified: int
    merged: int
    dropped_slow: int
    resumed: int
    refreshed: int
    released: int

    behind: int
    """Plans that are behind: their notifications come later."""
    rounds_aside: int
    """Forks that brought such plans up to date."""
    let_go: int
    """Subscriptions that the broker ended because they cost too much."""

    approximate: int
    """Approximate subscriptions."""
    events: int
    matches: int
    events_skipped: int
    """Subjects and patterns that were too many, or took too long."""

    updates_waiting: int
    updates_limit: int
    """How many updates may wait; the broker refuses more."""
    updates_done: int
    updates_failed: int
    updates_refused: int
    updates_aside: int
    updates_bound: int
    """Updates that came as values for a prepared update."""
    delayed_waiting: int
    delayed_done: int
    delayed_failed: int
    queries_done: int
    queries_aside: int
    forks_running: int
    forks_made: int

    batches: int
    """Written to the log."""
    batches_failed: int
    log: LogStatus | None
    """None if everything is in memory."""
    external: ExternalStatus | None
    """None if the broker itself works out the answers."""
    record: RecordStatus | None
    """None if there is no endpoint behind the broker."""
    timing: Timing
    policy: Policy
    update_latency: Latency
    write_latency: Latency
    """Of batches that were written to the log."""


def status_of(broker: "Broker", rights: Rights = ALL_RIGHTS) -> BrokerStatus:
    """The size of the graphs that the rights allow to read, and the state and counters of the broker."""
    store, readable = broker.store, rights.read
    quads, graphs = len(store), len(store.named)
    if not readable.everything:
        seen = [graph for name, graph in store.named.items() if readable.has(name)]
        quads = sum(map(len, seen)) + (len(store.default) if readable.has(DEFAULT_GRAPH) else 0)
        graphs = len(seen)
    outboxes, resumption, updates, delayed = broker.outboxes, broker.resumption, broker.updates, broker.delayed
    group_commit, queries, forks = broker.commit_log.group_commit, broker.queries, broker.forks
    return BrokerStatus(
        now=broker.now(),
        commit=broker.last_commit,
        quads=quads,
        graphs=graphs,
        sessions=len(broker.sessions),
        followers=len(broker.commit_log.followers),
        subscriptions=len(broker.subscriptions),
        plans=broker.engine.plans,
        absent=broker.subscriptions.absent,
        notified=outboxes.sent,
        merged=outboxes.merged,
        dropped_slow=outboxes.dropped,
        resumed=resumption.resumed,
        refreshed=resumption.refreshed,
        released=resumption.released,
        behind=len(broker.engine.stragglers),
        rounds_aside=broker.stragglers.rounds,
        let_go=broker.notifier.subscriptions_let_go,
        approximate=len(broker.matching),
        events=broker.matching.events,
        matches=broker.matching.matches,
        events_skipped=broker.matching.skipped,
        updates_waiting=updates.accepted,
        updates_limit=updates.most,
        updates_done=updates.done,
        updates_failed=updates.failed,
        updates_refused=updates.refused,
        updates_aside=updates.aside,
        updates_bound=updates.bound,
        delayed_waiting=len(delayed.schedule),
        delayed_done=delayed.done,
        delayed_failed=delayed.failed,
        queries_done=queries.done,
        queries_aside=queries.aside,
        forks_running=len(forks.running),
        forks_made=forks.made,
        batches=group_commit.batches,
        batches_failed=group_commit.failures,
        log=_log_status(broker),
        external=None if (job := broker.external) is None else ExternalStatus(job.last_batch, len(job)),
        record=None if broker.record is None else broker.record.status(),
        timing=broker.engine.timing,
        policy=broker.policy,
        update_latency=updates.latency,
        write_latency=group_commit.latency,
    )


def _log_status(broker: "Broker") -> LogStatus | None:
    disk, snapshots = broker.disk, broker.snapshots
    if disk is None or snapshots is None:
        return None
    journal = disk.journal
    return LogStatus(
        durability=disk.durability,
        commit=journal.durable.commit,
        oldest=next(iter(segments(disk.folder)), journal.durable.commit + 1),
        bytes=journal.written,
        broken=journal.broken,
        snapshot=snapshots.commit,
        snapshots_written=snapshots.written,
        snapshots_failed=snapshots.failed,
        behind=snapshots.behind,
    )
