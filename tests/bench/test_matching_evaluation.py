"""The evaluation of approximate matching: event sets that can be rebuilt, truth by provenance, and what is counted."""

import pytest

from matching.backends import Letters
from tidings.bench.matching.effectiveness import Effectiveness, judge
from tidings.bench.matching.event_set import Sizes, event_set
from tidings.bench.matching.experiment import Configuration, Outcome, Point, configured
from tidings.bench.matching.report import summary
from tidings.bench.matching.speed import seconds_for, throughput
from tidings.bench.matching.vocabulary import CALIBRATION, VOCABULARIES, known_vocabularies, read_vocabulary, vocabulary
from tidings.matching.language.values import Equals, Parameters
from tidings.matching.matcher.scores import Knowledge

SMALL = Sizes(seeds=12, events=60, subscriptions=10)
KNOWLEDGE = Knowledge(Letters())


@pytest.mark.parametrize("name", known_vocabularies())
def test_a_vocabulary_has_a_thesaurus_for_what_its_events_are_made_of(name: str) -> None:
    words = vocabulary(name)
    kinds = {term for slots in words.events for attribute, values in slots for term in (attribute, *values[0])}
    assert len(words.terms) > 50
    assert sum(term in words.terms for term in kinds) > len(kinds) / 2
    assert all(known.synonyms for known in words.terms.values())


def test_the_same_seed_gives_the_same_set_and_another_seed_another() -> None:
    first, again, other = (event_set(vocabulary("city"), seed, SMALL) for seed in (1, 1, 2))
    assert first == again
    assert first.events != other.events
    assert (len(first.events), len(first.wanted)) == (60, 10)


def test_an_event_is_relevant_by_where_it_comes_from() -> None:
    words = read_vocabulary("tiny", "[terms]\na: b | c\n[places]\np = x\n[events]\ntype = a")
    events = event_set(words, 3, Sizes(seeds=1, events=50, subscriptions=1))
    wanted = frozenset([("type", ("a",))])
    for each in events.events:
        (value,) = (one.value for one in each.event.tuples if one.attribute == "type")
        assert each.relevant(wanted, strict=False)
        assert each.relevant(wanted, strict=True) is (value != "c")
        assert not each.relevant(frozenset([("type", ("b",))]), strict=False)


def test_terms_become_approximate_by_and_by() -> None:
    events = event_set(vocabulary("farm"), 1, SMALL)
    shares = []
    for approximation in (0.0, 0.5, 1.0):
        subscriptions = events.subscriptions(approximation, Parameters())
        predicates = [each for one in subscriptions for each in one.predicates]
        values = [each.condition.approximate for each in predicates if isinstance(each.condition, Equals)]
        sides = [*values, *(each.approximate_attribute for each in predicates)]
        assert len(sides) == 2 * len(predicates)
        shares.append(sum(sides) / len(sides))
    assert shares[0] == 0
    assert shares[1] == pytest.approx(0.5, abs=0.1)
    assert shares[2] == 1


def test_exact_matching_is_always_right_and_finds_little() -> None:
    events = event_set(vocabulary("city"), 1, SMALL)
    exact = judge(events, KNOWLEDGE, 0.0, Parameters())
    assert exact.loose.precision == 1
    assert 0 < exact.loose.recall < 0.5
    loose = judge(events, KNOWLEDGE, 1.0, Parameters())
    assert loose.loose.recall > exact.loose.recall
    assert loose.strict.relevant < loose.loose.relevant


def test_precision_recall_and_f_score() -> None:
    found = Effectiveness(found=8, right=6, relevant=12)
    assert (found.precision, found.recall, found.f_score) == pytest.approx((0.75, 0.5, 0.6))
    assert Effectiveness(0, 0, 5).f_score == 0


def test_speed_is_measured_on_what_can_be_matched() -> None:
    assert seconds_for(3, 4, 2, vocabulary("city"), KNOWLEDGE) > 0
    found = throughput(vocabulary("city"), KNOWLEDGE, 20, 10)
    assert (found.subscriptions, found.events) == (20, 10)
    assert 0 < found.looked_at < 1


def test_what_is_reported_and_what_parameters_come_from_are_apart() -> None:
    assert not {*VOCABULARIES} & {*CALIBRATION}
    assert {*VOCABULARIES, *CALIBRATION} <= {*known_vocabularies()}


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("vocabularies", "city,moon", "there is no vocabulary `moon`; there are airport, "),
        ("backends", "moon", "Invalid enum value 'moon'"),
        ("events", "0", ">= 1"),
        ("crowd", "-1", ">= 1"),
    ],
)
def test_a_configuration_that_cannot_be_measured_is_refused(key: str, value: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        configured({key: value})


def test_a_configuration_is_read_and_its_outcome_told() -> None:
    assert configured({"seeds": "3,4", "events": "20"}) == Configuration(seeds=(3, 4), events=20)
    with pytest.raises(ValueError, match="unknown field"):
        configured({"colour": "red"})
    point = Point("city", "static", 1.0, 0.9, 0.8, 0.85, 0.7, 0.6, 0.65, 0.01)
    assert "precision 0.900, recall 0.800, F 0.850" in summary(Outcome(Configuration(), [point], {1: 0.0001}))
