"""The evaluation of approximate matching: effectiveness over the degree of approximation, and speed, in one run.

Thresholds are fixed: they were chosen on vocabularies and seeds that this evaluation does not use.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

from msgspec import Meta, Struct, convert

from tidings.bench.matching.baselines import product, sentences
from tidings.bench.matching.effectiveness import Effectiveness, judge
from tidings.bench.matching.event_set import Sizes, event_set
from tidings.bench.matching.speed import Throughput, seconds_for, throughput
from tidings.bench.matching.vocabulary import VOCABULARIES, known_vocabularies, vocabulary
from tidings.lexicons.backends import Backend, load_knowledge
from tidings.lexicons.minilm import load_sentence_vectors
from tidings.lexicons.static_vectors import load_static_vectors
from tidings.matching.language.values import Parameters
from tidings.matching.matcher.scores import Knowledge
from tidings.matching.taxonomy.built_in import built_in
from tidings.matching.taxonomy.classification import Classifier
from tidings.matching.taxonomy.clusters import Clustering, Clusters

APPROXIMATIONS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


class Configuration(Struct, frozen=True, forbid_unknown_fields=True):
    """The configuration of the evaluation; the defaults are the sizes of the paper."""

    seeds: Annotated[tuple[int, ...], Meta(min_length=1)] = (51, 52, 53)
    vocabularies: Annotated[tuple[str, ...], Meta(min_length=1)] = VOCABULARIES
    backends: Annotated[tuple[Backend, ...], Meta(min_length=1)] = (Backend.STATIC, Backend.VECTORS)
    events: Annotated[int, Meta(ge=1)] = 14_743
    subscriptions: Annotated[int, Meta(ge=1)] = 94
    crowd: Annotated[int, Meta(ge=1)] = 10_000
    """Subscriptions of the measurement of throughput."""
    clusters: bool = True
    """Also match within the built-in topics, with everything approximate."""
    index: str | None = None
    """The folder of the index for the backend esa."""
    wordnet: str | None = None
    moby: str | None = None

    def __post_init__(self) -> None:
        known = known_vocabularies()
        for each in self.vocabularies:
            if each not in known:
                raise ValueError(f"there is no vocabulary `{each}`; there are {', '.join(known)}")


@dataclass(frozen=True, slots=True)
class Point:
    """The result of one matcher on one vocabulary at one degree of approximation: the mean over the seeds."""

    vocabulary: str
    matcher: str
    approximation: float
    precision: float
    recall: float
    f_score: float
    strict_precision: float
    strict_recall: float
    strict_f_score: float
    looked_at: float


@dataclass(frozen=True, slots=True)
class Outcome:
    configuration: Configuration
    points: list[Point] = field(default_factory=list)
    over_k: dict[int, float] = field(default_factory=dict)
    """Seconds for the K best mappings, n = m = 10."""
    over_predicates: dict[int, float] = field(default_factory=dict)
    """Seconds for the best mapping of n predicates, m = 10."""
    throughput: Throughput | None = None


def configured(settings: Mapping[str, str]) -> Configuration:
    """The configuration from KEY=VALUE settings; the items of a list are separated by commas."""
    lists = {"seeds", "vocabularies", "backends"}
    values: dict[str, Any] = {name: text.split(",") if name in lists else text for name, text in settings.items()}
    return convert(values, Configuration, strict=False)


def run_experiment(configuration: Configuration, say: Callable[[str], None]) -> Outcome:
    outcome = Outcome(configuration)
    known = {backend.value: _load(backend, configuration) for backend in configuration.backends}
    matchers = known | {"product": product(load_static_vectors())}
    if Backend.MINILM in configuration.backends:
        matchers["sentences"] = sentences(load_sentence_vectors())
    for name in configuration.vocabularies:
        for matcher, knowledge in matchers.items():
            for approximation in APPROXIMATIONS:
                outcome.points.append(_point(configuration, name, matcher, knowledge, approximation))
                say(_line(outcome.points[-1]))
        for backend, knowledge in known.items() if configuration.clusters else ():
            clusters = Clusters(Classifier(built_in(), knowledge.relatedness), Clustering.VALUES)
            outcome.points.append(_point(configuration, name, f"{backend} in clusters", knowledge, 1.0, clusters))
            say(_line(outcome.points[-1]))
        outcome.points.extend(_exact(outcome.points, name))
    words, best = vocabulary(configuration.vocabularies[0]), next(iter(known.values()))
    for k in (1, 2, 5, 10):
        outcome.over_k[k] = seconds_for(10, 10, k, words, best)
    for predicates in (1, 2, 4, 6, 8, 10):
        outcome.over_predicates[predicates] = seconds_for(predicates, 10, 1, words, best)
    found = throughput(words, best, configuration.crowd, min(1_000, configuration.events))
    return Outcome(configuration, outcome.points, outcome.over_k, outcome.over_predicates, found)


def _load(backend: Backend, configuration: Configuration) -> Knowledge:
    named = (configuration.index, configuration.wordnet, configuration.moby)
    index, wordnet, moby = (None if path is None else Path(path) for path in named)
    return load_knowledge(backend, index=index, wordnet=wordnet, moby=moby)


def _point(
    configuration: Configuration,
    words: str,
    name: str,
    knowledge: Knowledge,
    approximation: float,
    clusters: Clusters | None = None,
) -> Point:
    sizes = Sizes(events=configuration.events, subscriptions=configuration.subscriptions)
    sets = (event_set(vocabulary(words), seed, sizes) for seed in configuration.seeds)
    judged = [judge(each, knowledge, approximation, Parameters(), clusters) for each in sets]
    return Point(
        words,
        name,
        approximation,
        *_means([each.loose for each in judged]),
        *_means([each.strict for each in judged]),
        looked_at=fmean(each.looked_at for each in judged),
    )


def _means(found: list[Effectiveness]) -> tuple[float, float, float]:
    precision, recall = fmean(each.precision for each in found), fmean(each.recall for each in found)
    return precision, recall, fmean(each.f_score for each in found)


def _exact(points: list[Point], words: str) -> list[Point]:
    """The points of exact matching: the result without approximation, repeated for every degree."""
    (none, *_) = (each for each in points if each.vocabulary == words and each.approximation == 0.0)
    figures = (none.precision, none.recall, none.f_score)
    strict = (none.strict_precision, none.strict_recall, none.strict_f_score)
    return [Point(words, "exact", each, *figures, *strict, none.looked_at) for each in APPROXIMATIONS]


def _line(point: Point) -> str:
    return (
        f"{point.vocabulary:6} {point.matcher:18} {point.approximation:4.0%} approximate  "
        f"precision {point.precision:.3f}  recall {point.recall:.3f}  F {point.f_score:.3f}  "
        f"(strict {point.strict_precision:.3f} {point.strict_recall:.3f} {point.strict_f_score:.3f})"
    )
