"""The sentence transformer of the backend `minilm`: its time, its memory, and its agreement with people's judgements.

Prints one JSON line. Times are processor times. `phrase_ms` is the time for a new phrase among others, and
`phrase_alone_ms` for one that is computed alone. `events_per_s_cold` and `events_per_s_warm` have, for each backend,
the median over rounds in turns of events a second against 10,000 subscriptions of the city: with new words, and with
words that were seen before. `weights_mb` and `vectors_mb` are the memory of the weights and of a full cache of vectors.
With a file of word pairs, `spearman` has the correlation of cosines with people's judgements, for each set.

    python benchmarks/sentences.py [ROUNDS] [PAIRS]
"""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from measure import check, report, resident_mb, rounded, say
from tidings.bench.matching.speed import Throughput, throughput
from tidings.bench.matching.vocabulary import CALIBRATION, vocabulary
from tidings.lexicons.backends import Backend, load_knowledge
from tidings.lexicons.esa.pairs import read_sets
from tidings.lexicons.minilm import KEPT, SentenceVectors, load_sentence_vectors
from tidings.matching.esa.judgement import spearman

ROUNDS = 5
_BACKENDS = (Backend.STATIC, Backend.MINILM)
_SUBSCRIPTIONS = 10_000
_EVENTS = 500


def taken(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def phrases() -> list[str]:
    """The terms of the vocabularies for calibration, of one to four words."""
    found = {
        text
        for name in CALIBRATION
        for term, others in vocabulary(name).terms.items()
        for text in (term, *others.synonyms, *others.related)
    }
    return sorted(found)


def of_phrases(together: SentenceVectors, alone: SentenceVectors) -> dict[str, float]:
    """The milliseconds for a phrase, together with others and alone."""
    texts = phrases()
    both = taken(lambda: together.vectors(texts)), taken(lambda: [alone.vectors([text]) for text in texts])
    check(bool((together.vectors(texts) == alone.vectors(texts)).all()), "a vector depends on the company")
    return {
        "phrase_ms": rounded(1000 * both[0] / len(texts)),
        "phrase_alone_ms": rounded(1000 * both[1] / len(texts)),
    }


def matched(backend: Backend) -> Throughput:
    return throughput(vocabulary("city"), load_knowledge(backend), _SUBSCRIPTIONS, _EVENTS)


def by_backend(rounds: list[dict[Backend, Throughput]], figure: str) -> dict[str, float]:
    return {
        backend.value: rounded(median(getattr(each[backend], figure) for each in rounds), 0) for backend in _BACKENDS
    }


def agreement(vectors: SentenceVectors, path: Path) -> Iterator[tuple[str, float]]:
    for name, pairs in read_sets(path):
        cosines = [float(vectors.vectors([each.left])[0] @ vectors.vectors([each.right])[0]) for each in pairs]
        yield name, rounded(spearman([each.judged for each in pairs], cosines))


def main(rounds: int, pairs: Path | None) -> None:
    before = resident_mb()
    vectors = load_sentence_vectors()
    weights = resident_mb() - before
    figures = of_phrases(vectors, load_sentence_vectors())
    say(f"phrases: {figures}")
    measured = []
    for number in range(rounds):
        measured.append({backend: matched(backend) for backend in _BACKENDS})
        told = ", ".join(f"{name.value} {each.cold:.0f} and {each.warm:.0f}" for name, each in measured[-1].items())
        say(f"round {number + 1}: events a second, cold and warm: {told}")
    report(
        **figures,
        events_per_s_cold=by_backend(measured, "cold"),
        events_per_s_warm=by_backend(measured, "warm"),
        weights_mb=rounded(weights, 0),
        vectors_mb=rounded(4 * KEPT * vectors.dimensions / 1e6, 0),
        spearman=None if pairs is None else dict(agreement(vectors, pairs)),
    )


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS,
        Path(sys.argv[2]) if len(sys.argv) > 2 else None,
    )
