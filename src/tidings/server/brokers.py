"""Builds a broker by its settings: in memory, or from its data folder."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tidings.broker.approximate.matching import Words
from tidings.broker.broker import Broker
from tidings.broker.durability.replay import begin_at, replay
from tidings.broker.policy import Disk, Policy
from tidings.broker.record.context_mode import check_whole
from tidings.broker.subscriptions.external_answers import ExternalEngine
from tidings.broker.subscriptions.outbox import Bounds, SlowPolicy
from tidings.engine.contexts import Contexts
from tidings.engine.engine import Engine
from tidings.engine.updates.executor import Core
from tidings.lexicons.backends import Backend, lacking, load_knowledge
from tidings.log.journal import Durability, Journal
from tidings.log.journal import Settings as JournalSettings
from tidings.log.recovery import recover
from tidings.matching.language.bounds import Bounds as EventBounds
from tidings.server.config import Settings
from tidings.server.loading import loader_of

if TYPE_CHECKING:
    from tidings.matching.matcher.scores import Knowledge

log = logging.getLogger("tidings")


def clock() -> int:
    """Microseconds since 1970: the only clock of the process; other modules get it as an argument."""
    return time.time_ns() // 1000


@dataclass(frozen=True, slots=True)
class Watch:
    """The clocks of a broker: microseconds since 1970 for instants, and seconds for durations."""

    clock: Callable[[], int]
    monotonic: Callable[[], float]


WATCH = Watch(clock, time.monotonic)


def build_core(settings: Settings) -> Core:
    return Core(base=settings.base, loader=loader_of(settings), most_parts=settings.max_parts or None)


def policy(settings: Settings) -> Policy:
    return Policy(
        queue=settings.max_queue,
        delayed=settings.max_delayed,
        slice_seconds=settings.slice,
        seconds=settings.timeout or None,
        behind=settings.max_behind,
        rows=settings.max_rows or None,
        planning=settings.max_planning,
        workers=settings.workers,
        memory=settings.max_memory or None,
        answer=settings.max_answer or None,
        snapshot_bytes=settings.snapshot_every,
        keep_log=settings.keep_log,
        bounds=Bounds(
            subscriptions=settings.max_subscriptions,
            client_subscriptions=settings.client_subscriptions,
            retain=settings.retain,
            rows=settings.outbox_rows,
            grace=settings.grace,
            slow=cast(SlowPolicy, settings.slow),
        ),
        patience=settings.deliver_patience,
        words=Words(load=_words(settings), bounds=EventBounds(tuples=settings.max_event_tuples)),
    )


def _words(settings: Settings) -> Callable[[], "Knowledge"] | None:
    """A function that loads the knowledge about words; the broker calls it for the first approximate subscription."""
    if settings.matching == "off":
        return None
    named = (settings.matching_index, settings.wordnet, settings.moby)
    index, wordnet, moby = (None if name is None else Path(name) for name in named)
    backend = Backend(settings.matching)

    def load() -> "Knowledge":
        if (said := lacking(backend, wordnet, moby)) is not None:
            log.warning("approximate matching: %s", said)
        return load_knowledge(backend, index=index, wordnet=wordnet, moby=moby)

    return load


def build_broker(
    settings: Settings, core: Core | None = None, external: ExternalEngine | None = None, watch: Watch = WATCH
) -> Broker:
    """A broker in memory."""
    engine = Engine(core or build_core(settings), naive=settings.naive, clock=time.perf_counter)
    if settings.keeps_contexts:
        engine.contexts = Contexts(engine.store)
    return Broker(engine, policy(settings), clock=watch.clock, monotonic=watch.monotonic, external=external)


def open_broker(
    settings: Settings,
    folder: Path,
    say: Callable[[str], None],
    external: ExternalEngine | None = None,
    watch: Watch = WATCH,
) -> Broker:
    """The broker in a folder, from its newest snapshot and the log since then. The caller has locked the folder."""
    recovered = recover(folder)
    core = build_core(settings)
    snapshot = recovered.snapshot
    if snapshot is not None:
        for s, p, o, g in snapshot.quads:
            core.store.add(s, p, o, g)
    broker = build_broker(settings, core, external, watch)
    if snapshot is not None:
        begin_at(broker, snapshot.commit, snapshot.time)
        for note in snapshot.notes:
            broker.facts.restore(note)
    for entry in recovered.entries():
        replay(broker, entry)
    check_whole(broker)
    if recovered.aside is not None:
        say(f"the end of the commit log was damaged: moved its last {recovered.cut:,} bytes to {recovered.aside}")
    elif recovered.cut:
        say(f"the commit log ended in an incomplete entry: cut off its last {recovered.cut:,} bytes")
    durability = cast(Durability, settings.durability)
    journal = Journal(folder, recovered.place, JournalSettings(settings.segment_size, settings.segment_age, durability))
    broker.attach(Disk(folder, journal, durability, recovered.replayed))
    return broker
