"""Compares updates, from the text to the applied exact delta, with pyoxigraph's plain update of the same text.

Prints one JSON line: `ratio_delete_insert`, `ratio_insert_data`, `ratio_road` (ours / pyoxigraph, less is better); and
for one value that is replaced 200,000 times, `churn_slowdown` (last thousand / first thousand) and
`churn_rss_growth_mb`.
"""

import gc
from itertools import islice

import pyoxigraph

from measure import NOW, check, duel, our_city, per_call, report, resident_mb, rounded, say, their_city
from tidings.bench.workloads.city import NS, posts_of_road, update_lamp, update_road
from tidings.engine.updates.executor import Core

_ROUNDS = 7
_CHURN = 200_000


def main() -> None:
    say("loading the city twice ...")
    core, peer = our_city(), their_city()
    _check_agreement(core, peer)
    figures = {}
    for name, rounds in _workloads().items():
        mine, theirs = duel(lambda text: core.update(text, now=NOW), peer.update, rounds)
        say(f"{name}: {mine * 1e6:.1f} µs, pyoxigraph {theirs * 1e6:.1f} µs")
        figures[name] = rounded(mine / theirs)
    _check_state(core, peer)
    slowdown, growth = _churn(core)
    report(**figures, churn_slowdown=rounded(slowdown), churn_rss_growth_mb=rounded(growth, 1))


def _workloads() -> dict[str, list[list[str]]]:
    """The texts of each workload in rounds. No text occurs twice, and each one changes something."""
    lamps = [
        update_lamp(road, 1 + number % 10, f"v{number}") for number, road in enumerate(list(range(1, 311)) * _ROUNDS)
    ]
    notes = [
        f'PREFIX ns: <{NS}> INSERT DATA {{ ns:LAMP_{1 + n % 310}_1 ns:note "n{n}" }}' for n in range(500 * _ROUNDS)
    ]
    roads = [update_road(301 + n % 10, f"w{n}") for n in range(10 * _ROUNDS)]
    return {
        "ratio_delete_insert": _in_rounds(lamps),
        "ratio_insert_data": _in_rounds(notes),
        "ratio_road": _in_rounds(roads),
    }


def _in_rounds(texts: list[str]) -> list[list[str]]:
    size = len(texts) // _ROUNDS
    pending = iter(texts)
    return [list(islice(pending, size)) for _ in range(_ROUNDS)]


def _check_agreement(core: Core, peer: pyoxigraph.Store) -> None:
    """Check that each kind of update has the expected delta, and gives the same state in both stores."""
    delta = core.update(update_lamp(7, 3, "first"), now=NOW)
    peer.update(update_lamp(7, 3, "first"))
    check((len(list(delta.added())), len(list(delta.removed()))) == (1, 1), "U_LAMP replaces one value")
    check(not core.update(update_lamp(7, 3, "first"), now=NOW), "the same value once more changes nothing")
    delta = core.update(update_road(305, "first"), now=NOW)
    peer.update(update_road(305, "first"))
    posts = posts_of_road(305)
    check((len(list(delta.added())), len(list(delta.removed()))) == (posts, posts), "U_ROAD replaces a value a lamp")
    _check_state(core, peer)


def _check_state(core: Core, peer: pyoxigraph.Store) -> None:
    """Check that updated values are the same in both stores. Of the others, only the number is compared, because
    pyoxigraph rewrites literals."""
    check(len(core.store) == len(peer), "both stores hold as many triples")
    for name in ("hasDimmingValue", "note"):
        ours = set(core.store.default.uses(f"<{NS}{name}>"))
        found = peer.quads_for_pattern(None, pyoxigraph.NamedNode(f"{NS}{name}"), None)
        check(ours == {(str(quad.subject), str(quad.object)) for quad in found}, f"both stores agree on {name}")


def _churn(core: Core) -> tuple[float, float]:
    """Replace one value many times: this must neither leak memory nor make look-ups slower."""

    def thousand(start: int) -> float:
        texts = [update_lamp(1, 1, f"churn{start + number}") for number in range(1000)]
        return per_call(lambda text: core.update(text, now=NOW), texts)

    thousand(-1000)
    gc.collect()
    before = resident_mb()
    times = [thousand(start) for start in range(0, _CHURN, 1000)]
    gc.collect()
    growth = resident_mb() - before
    check(len(list(core.store.default.objects(f"<{NS}LAMP_1_1>", f"<{NS}hasDimmingValue>"))) == 1, "one value is left")
    # The best of three thousands at either end, because the machine may have been busy during one of them.
    first, last = min(times[:3]), min(times[-3:])
    say(f"churn: {first * 1e6:.1f} µs at first, {last * 1e6:.1f} µs at last, {growth:+.1f} MB")
    return last / first, growth


if __name__ == "__main__":
    main()
