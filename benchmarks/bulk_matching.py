"""Approximate matching in bulk on Spark: compares one core with two, and both with the matcher in one process.

Prints one JSON line. Events and subscriptions are those of the evaluation's city; all terms of the subscriptions are
approximate. `speedup_2_cores` is the time of Spark on one core divided by that on two, each warm: the workers have
built the index. `ratio_to_process` is the time of the library in this process divided by that of Spark on two cores.
The matches are checked: all must be the same, with degrees that are equal to five digits.

    python benchmarks/bulk_matching.py [EVENTS [SUBSCRIPTIONS]]
"""

import sys
import tempfile
import time
from pathlib import Path

import msgspec

from measure import check, report, rounded, say
from tidings.bench.matching.event_set import Sizes, event_set
from tidings.bench.matching.vocabulary import vocabulary
from tidings.lexicons.backends import Backend, load_knowledge
from tidings.matching.language.documents import event_document, subscription_document
from tidings.matching.language.values import Event, Parameters, Subscription
from tidings.matching.matcher.index import SubscriptionIndex
from tidings.spark.matching.events import from_lines
from tidings.spark.matching.job import matched
from tidings.spark.matching.worker import Spec
from tidings.spark.session import session

EVENTS, SUBSCRIPTIONS = 20_000, 1_000
_ROUNDS = 3
Found = dict[tuple[str, str], float]


def on_spark(cores: int, path: Path, spec: Spec) -> tuple[Found, float]:
    """The matches, and the seconds of the best round, after one in which the workers build the index."""
    spark = session(f"local[{cores}]", memory="3g")
    events = from_lines(spark, str(path)).repartition(2 * cores).persist()
    events.count()
    taken = []
    found: Found = {}
    for _ in range(_ROUNDS + 1):
        start = time.perf_counter()
        with matched(events, spec) as matches:
            rows = matches.frame.select("subscription", "event", "degree").toArrow().to_pylist()
        taken.append(time.perf_counter() - start)
        found = {(row["subscription"], row["event"]): row["degree"] for row in rows}
    spark.stop()
    return found, min(taken[1:])


def here(events: list[Event], subscriptions: dict[str, Subscription]) -> tuple[Found, float]:
    index: SubscriptionIndex[str] = SubscriptionIndex(load_knowledge(Backend.STATIC))
    for key, subscription in subscriptions.items():
        index.add(key, subscription)
    taken = []
    found: Found = {}
    for _ in range(2):
        start = time.perf_counter()
        found = {}
        for event in events:
            text = msgspec.json.encode(event_document(event)).decode()
            found |= {(key, text): match.degree for key, match in index.match(event)}
        taken.append(time.perf_counter() - start)
    return found, min(taken)


def agree(one: Found, other: Found) -> bool:
    return one.keys() == other.keys() and all(abs(one[key] - other[key]) < 1e-5 for key in one)


def main() -> None:
    given = [int(each) for each in sys.argv[1:]]
    sizes = Sizes(166, given[0] if given else EVENTS, given[1] if given[1:] else SUBSCRIPTIONS)
    made = event_set(vocabulary("city"), 2, sizes)
    events = [each.event for each in made.events]
    wanted = {str(key): each for key, each in enumerate(made.subscriptions(1.0, Parameters()))}
    spec = Spec({key: subscription_document(each) for key, each in wanted.items()})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.jsonl"
        path.write_bytes(b"\n".join(msgspec.json.encode(event_document(each)) for each in events))
        say("in this process")
        ours, alone = here(events, wanted)
        say("on one core")
        one, slow = on_spark(1, path, spec)
        say("on two")
        two, fast = on_spark(2, path, spec)
    check(agree(ours, one) and agree(ours, two), "the matches of Spark and of the library")
    report(
        events=sizes.events,
        subscriptions=sizes.subscriptions,
        matches=len(ours),
        events_per_s=rounded(sizes.events / fast, 0),
        speedup_2_cores=rounded(slow / fast, 2),
        ratio_to_process=rounded(alone / fast, 2),
    )


if __name__ == "__main__":
    main()
