"""The status of a broker as a JSON object. The performance indicators are those of the SPS paper (section IV, Table I):

T_total = T_UPDATE + T_LUTT + T_BOOSTER + T_NOTIFY        Ups = n / T_total
Sps = m · Ups        Tps = Nu_avg · Sps        E2E = (T_total - T_UPDATE) / T_UPDATE        LHR = hits / (n · m)
"""

import resource
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from tidings import __version__
from tidings.broker.lake.lake import LakeStatus
from tidings.broker.status import BrokerStatus
from tidings.model.access import Rights
from tidings.model.graph_patterns import written
from tidings.protocol.instants import shown

_FOR_EVERYBODY = ("version", "started", "uptime", "sequence", "time", "quads", "graphs", "limits")
_STATM = Path("/proc/self/statm")


def status(broker: BrokerStatus, started: int) -> dict[str, Any]:
    """The content of /status; `started` is in microseconds since 1970."""
    uptime = (broker.now - started) / 1e6
    return {
        "version": __version__,
        "started": shown(started),
        "uptime": uptime,
        "sequence": broker.commit,
        "time": broker.now,
        "quads": broker.quads,
        "graphs": broker.graphs,
        "sessions": broker.sessions,
        "followers": broker.followers,
        "subscriptions": _subscriptions(broker),
        "matching": _matching(broker),
        "delayed": {
            "waiting": broker.delayed_waiting, "done": broker.delayed_done, "failed": broker.delayed_failed,
        },
        "queue": {
            "waiting": broker.updates_waiting, "done": broker.updates_done, "failed": broker.updates_failed,
            "refused": broker.updates_refused, "aside": broker.updates_aside, "prepared": broker.updates_bound,
        },
        "queries": {"done": broker.queries_done, "aside": broker.queries_aside},
        "forks": {"running": broker.forks_running, "made": broker.forks_made},
        "log": _log(broker),
        "external": None if (job := broker.external) is None else {"batch": job.batch, "waiting": job.waiting},
        "endpoint": _endpoint(broker),
        "timing": _timing(broker),
        "kpi": _indicators(broker, uptime),
        "memory": _memory(),
        "limits": _limits(broker),
    }  # fmt: skip


def seen_by(content: dict[str, Any], rights: Rights) -> dict[str, Any]:
    """The content of /status for a client with these rights: only administrators see counters about other clients."""
    readable = {"readable": written(rights.read)}
    if rights.administer:
        return content | readable
    log = content["log"]
    place = None if log is None else {name: log[name] for name in ("durability", "sequence", "oldest")}
    lake = content["lake"]
    reach = None if lake is None else {name: lake[name] for name in ("first", "last", "graphs")}
    return {name: content[name] for name in _FOR_EVERYBODY} | {"log": place, "lake": reach} | readable


def lake_status(lake: LakeStatus) -> dict[str, Any]:
    """Which commits the history lake has, or the `error` if it cannot be read."""
    content = {"folder": lake.folder, "first": lake.first, "last": lake.last, "graphs": written(lake.graphs)}
    return content if lake.error is None else content | {"error": lake.error.to_json()}


def _subscriptions(broker: BrokerStatus) -> dict[str, int]:
    return {
        "live": broker.subscriptions - broker.absent,
        "absent": broker.absent,
        "plans": broker.plans,
        "notified": broker.notified,
        "merged": broker.merged,
        "dropped_slow": broker.dropped_slow,
        "resumed": broker.resumed,
        "refreshed": broker.refreshed,
        "released": broker.released,
        "behind": broker.behind,
        "aside": broker.rounds_aside,
        "let_go": broker.let_go,
    }


def _matching(broker: BrokerStatus) -> dict[str, int]:
    return {
        "subscriptions": broker.approximate,
        "events": broker.events,
        "matches": broker.matches,
        "skipped": broker.events_skipped,
    }


def _log(broker: BrokerStatus) -> dict[str, Any] | None:
    """None if everything is in memory."""
    log = broker.log
    if log is None:
        return None
    return {
        "durability": log.durability,
        "sequence": log.commit,
        "oldest": log.oldest,
        "bytes": log.bytes,
        "batches": broker.batches,
        "failures": broker.batches_failed,
        "broken": log.broken,
        "snapshot": log.snapshot,
    }


def _endpoint(broker: BrokerStatus) -> dict[str, Any] | None:
    """None if there is no endpoint behind the broker."""
    record = broker.record
    if record is None:
        return None
    found = record.reconciled
    return {
        "state": record.state,
        "reason": record.reason,
        "age": record.age,
        "waiting": record.waiting,
        "requests": record.requests,
        "commits": record.commits,
        "outages": record.outages,
        "reconciliations": record.reconciliations,
        "reconciled": None if found is None else {"time": shown(record.reconciled_at), **to_builtins(found)},
    }


def _timing(broker: BrokerStatus) -> dict[str, float]:
    """Sums since the start, in seconds."""
    timing = broker.timing
    return {
        "requests": timing.requests,
        "commits": timing.commits,
        "T_UPDATE": timing.update,
        "T_LUTT": timing.lutt,
        "T_BOOSTER": timing.booster,
        "T_NOTIFY": timing.notify,
    }


def _indicators(broker: BrokerStatus, uptime: float) -> dict[str, float]:
    timing = broker.timing
    n, m = timing.requests, broker.subscriptions
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
    resident = int(_STATM.read_text().split()[1]) * resource.getpagesize()
    return {"resident": resident, "peak": max(peak, resident)}  # the kernel counts the peak now and then


def _limits(broker: BrokerStatus) -> dict[str, Any]:
    policy, bounds = broker.policy, broker.policy.bounds
    return {
        "timeout": policy.seconds,
        "slice": policy.slice_seconds,
        "workers": policy.workers,
        "max_rows": policy.rows,
        "max_memory": policy.memory,
        "max_answer": policy.answer,
        "max_queue": policy.queue,
        "max_delayed": policy.delayed,
        "max_subscriptions": bounds.subscriptions,
        "client_subscriptions": bounds.client_subscriptions,
        "outbox_rows": bounds.rows,
        "retain": bounds.retain,
        "grace": bounds.grace,
        "slow": bounds.slow,
    }
