"""How a broker is, in one JSON object. The performance indicators are those of the SPS paper (section IV, Table I):

T_total = T_UPDATE + T_LUTT + T_BOOSTER + T_NOTIFY        Ups = n / T_total
Sps = m · Ups        Tps = Nu_avg · Sps        E2E = (T_total - T_UPDATE) / T_UPDATE        LHR = hits / (n · m)
"""

import resource
from pathlib import Path
from typing import Any

from tidings import __version__
from tidings.broker.broker import Broker
from tidings.protocol.instants import shown

_STATM = Path("/proc/self/statm")


def status(broker: Broker, started: int) -> dict[str, Any]:
    """What /status says; `started` is in microseconds since 1970."""
    now = broker.chronicle.clock()
    store = broker.engine.core.store
    return {
        "version": __version__,
        "started": shown(started),
        "uptime": (now - started) / 1e6,
        "sequence": broker.chronicle.seq,
        "time": now,
        "quads": len(store),
        "graphs": len(store.named),
        "sessions": len(broker.sessions),
        "subscriptions": _subscriptions(broker),
        "delayed": {
            "waiting": len(broker.delays.agenda), "done": broker.delays.done, "failed": broker.delays.failed,
        },
        "queue": {
            "waiting": broker.updates.accepted, "done": broker.updates.done, "failed": broker.updates.failed,
            "refused": broker.updates.refused, "aside": broker.updates.aside,
        },
        "queries": {"done": broker.queries.done, "aside": broker.queries.aside},
        "forks": {"running": len(broker.forks.running), "made": broker.forks.made},
        "log": log_status(broker),
        "timing": _timing(broker),
        "kpi": _indicators(broker, (now - started) / 1e6),
        "memory": _memory(),
        "limits": _limits(broker),
    }  # fmt: skip


def _subscriptions(broker: Broker) -> dict[str, int]:
    held = broker.subscriptions
    return {
        "live": len(held) - held.absent,
        "absent": held.absent,
        "notified": held.outboxes.sent,
        "merged": held.outboxes.merged,
        "dropped_slow": held.outboxes.dropped,
        "resumed": held.resumed,
        "refreshed": held.refreshed,
        "released": held.released,
    }


def log_status(broker: Broker) -> dict[str, Any] | None:
    """Nothing, if everything is in memory."""
    disk, snapshots, scribe = broker.disk, broker.snapshots, broker.chronicle.scribe
    if disk is None:
        return None
    return {
        "durability": disk.durability,
        "sequence": disk.journal.durable.seq,
        "bytes": disk.journal.written,
        "batches": scribe.batches,
        "failures": scribe.failures,
        "broken": disk.journal.broken,
        "snapshot": 0 if snapshots is None else snapshots.seq,
    }


def _timing(broker: Broker) -> dict[str, float]:
    """Sums since the start, in seconds."""
    timing = broker.engine.timing
    return {
        "requests": timing.requests,
        "commits": timing.commits,
        "T_UPDATE": timing.update,
        "T_LUTT": timing.lutt,
        "T_BOOSTER": timing.booster,
        "T_NOTIFY": timing.notify,
    }


def _indicators(broker: Broker, uptime: float) -> dict[str, float]:
    timing = broker.engine.timing
    n, m = timing.requests, len(broker.subscriptions)
    total = timing.update + timing.lutt + timing.booster + timing.notify
    replaced = timing.quads / 2 / n if n else 0.0
    ups = n / total if total else 0.0
    return {
        "LHR": timing.hit_rate(m),
        "hits": timing.hits,
        "false_alarms": timing.false_alarms,
        "Nu_avg": replaced,
        "Ups": ups,
        "Sps": m * ups,
        "Tps": replaced * m * ups,
        "E2E": (total - timing.update) / timing.update if timing.update else 0.0,
        "updates_per_second": n / uptime if uptime else 0.0,
    }


def _memory() -> dict[str, int]:
    """Bytes that the process has in memory, and the most it ever had."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    if not _STATM.exists():
        return {"peak": peak}
    return {"resident": int(_STATM.read_text().split()[1]) * resource.getpagesize(), "peak": peak}


def _limits(broker: Broker) -> dict[str, Any]:
    policy, bounds = broker.policy, broker.policy.bounds
    return {
        "timeout": policy.seconds,
        "slice": policy.slice_seconds,
        "workers": policy.workers,
        "max_rows": policy.rows,
        "max_queue": policy.queue,
        "max_delayed": policy.delayed,
        "max_subscriptions": bounds.subscriptions,
        "outbox_rows": bounds.rows,
        "retain": bounds.retain,
        "grace": bounds.grace,
        "slow": bounds.slow,
    }
