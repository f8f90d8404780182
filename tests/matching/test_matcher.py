"""Matching as the paper describes it, with its corrections: injective mappings, guards, degrees, explanations."""

from collections.abc import Sequence

import pytest

from matching.backends import Told
from tidings.matching.language.notation import read_event, read_subscription
from tidings.matching.language.values import Parameters, Scoring
from tidings.matching.matcher.explanation import explain
from tidings.matching.matcher.guards import Guard, Guards
from tidings.matching.matcher.matcher import Matcher
from tidings.matching.matcher.scores import Knowledge
from tidings.matching.opposites import BuiltInOpposites
from tidings.matching.relatedness import Matrix

KNOWN = Knowledge(
    Told(
        {
            ("type", "kind"): 0.64,
            ("type kind", "kind type"): 0.5,
            ("parking", "car park"): 0.81,
            ("type parking", "kind car park"): 0.6,
            ("ireland", "eire"): 0.9,
            ("country", "city"): 0.5,
            ("occupied", "vacant"): 0.9,
            ("room 101", "room 102"): 0.95,
            ("room", "room 102"): 0.8,
            ("empty parking slot", "parking vacancy"): 0.7,
        }
    )
)
PRODUCT = Parameters(scoring=Scoring.PRODUCT)


def matcher(text: str, parameters: Parameters = PRODUCT) -> Matcher:
    return Matcher(read_subscription(text, parameters), KNOWN)


def degree(subscription: str, event: str, parameters: Parameters = PRODUCT) -> float:
    return matcher(subscription, parameters).degree(read_event(event))


def test_exact_predicates_match_up_to_spelling() -> None:
    assert degree("{parkingSpace = Galway City}", "{parking_space = galway  city}") == 1
    assert degree("{parking = galway}", "{parking = galway bay}") == 0
    assert degree("{n = 3}", "{n = 3.0}") == 1
    assert degree("{n = 3}", '{n = "3"}') == 1


def test_product_scoring_is_the_entry_wise_product() -> None:
    assert degree("{type~ = parking~}", "{kind = car park}") == pytest.approx(0.64 * 0.81)
    assert degree("{type~ = parking}", "{kind = parking}") == pytest.approx(0.64)
    assert degree("{type = parking~}", "{kind = car park}") == 0


def test_an_exponent_below_one_makes_attributes_matter_less() -> None:
    gentle = Parameters(scoring=Scoring.PRODUCT, attribute_exponent=0.5)
    assert degree("{type~ = parking~}", "{kind = car park}", gentle) == pytest.approx(0.8 * 0.81)


def test_joint_scoring_also_reads_attribute_and_value_as_one_phrase() -> None:
    assert degree("{type~ = parking~}", "{kind = car park}", Parameters()) == pytest.approx((0.64 * 0.81 + 0.6) / 2)
    assert degree("{type = parking~}", "{type = car park}", Parameters()) == pytest.approx(0.81)


def test_the_degree_is_the_geometric_mean_of_the_best_injective_mapping() -> None:
    event = read_event("{kind = car park, country = eire, city = eire}")
    (mapping,) = matcher("{type~ = parking~, country~ = ireland~}").mappings(event)
    assert mapping.tuples == (0, 1)
    assert mapping.degree == pytest.approx((0.64 * 0.81 * 0.9) ** 0.5)


def test_one_tuple_does_not_meet_two_predicates() -> None:
    assert degree("{country~ = ireland~, city~ = ireland~}", "{country = ireland}") == 0
    found = matcher("{country~ = ireland~, city~ = ireland~}").mappings(
        read_event("{city = ireland, country = ireland}"), 2
    )
    assert [each.tuples for each in found] == [(1, 0), (0, 1)]
    assert found[0].degree == 1


def test_sarah_hears_of_vacancies() -> None:
    assert degree("{empty parking slot~ > 0}", "{parking vacancy = 3}") == pytest.approx(0.7)
    assert degree("{empty parking slot~ > 0}", "{parking vacancy = 0}") == 0
    assert degree("{empty parking slot~ > 0}", "{parking vacancy = many}") == 0


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        ("< 5", [4]), ("<= 5", [4, 5]), ("> 5", [6]), (">= 5", [5, 6]),
        ("= [4, 5]", [4, 5]), ("= (4, 6)", [5]), ("= 5", [5]),
    ],
)  # fmt: skip
def test_comparisons_and_ranges(condition: str, met: list[int]) -> None:
    assert [n for n in (4, 5, 6) if degree(f"{{n {condition}}}", f"{{n = {n}}}")] == met


def test_guards_rule_out_what_is_related_and_not_meant() -> None:
    assert degree("{state = occupied~}", "{state = vacant}") == 0
    assert degree("{place = room 101~}", "{place = room 102}") == 0
    assert degree("{place = room~}", "{place = room 102}") == pytest.approx(0.8)
    assert degree("{place = room 101~}", "{place = Room 101}") == 1
    assert degree("{place = room~}", "{place = 102}") == 0


def test_only_what_reaches_the_threshold_matches() -> None:
    event = read_event("{kind = car park}")
    assert matcher("{type~ = parking~}").match(event) is not None
    assert matcher("{type~ = parking~}", Parameters(0.52, scoring=Scoring.PRODUCT)).match(event) is None


def test_as_many_mappings_as_were_asked_for() -> None:
    event = read_event("{country = ireland, country = eire, country = ireland}")
    match = matcher("{country = ireland~}", Parameters(mappings=2)).match(event)
    assert match is not None
    assert [each.tuples for each in match.mappings] == [(0,), (2,)]


def test_the_best_events_of_a_subscription() -> None:
    events = [read_event(f"{{country = {each}}}") for each in ("eire", "france", "ireland", "eire")]
    found = matcher("{country = ireland~}").best_events(events, 2)
    assert [place for place, _ in found] == [2, 0]
    assert [match.degree for _, match in found] == pytest.approx([1.0, 0.9])


def test_empty_subscriptions_and_events() -> None:
    assert degree("{}", "{a = b}") == 1
    assert degree("{}", "{}") == 1
    assert degree("{a = b}", "{}") == 0


def test_an_explanation_says_which_and_why_not_another() -> None:
    told = explain(
        matcher("{country~ = ireland~, state = vacant~}"),
        read_event("{city = ireland, country = eire, state = occupied, state = vacant}"),
    )
    document = told.document()
    assert told.matches
    assert [each["tuple"] for each in document["predicates"]] == ["country = eire", "state = vacant"]
    assert document["predicates"][0]["others"][0] == {
        "tuple": "city = ireland", "reason": "it is less related", "score": 0.5, "attribute": 0.5, "value": 1.0,
    }  # fmt: skip
    assert document["predicates"][1]["others"][0]["reason"] == "opposite words"
    assert document["reason"] == "the degree 0.949 reaches the threshold 0.5"


def test_an_explanation_of_no_match() -> None:
    told = explain(matcher("{a = 1, b = 2}"), read_event("{a = 1}"))
    assert not told.matches
    assert told.reason == "2 predicates need as many tuples; the event has 1"
    assert explain(matcher("{a = 1}"), read_event("{b = 1}")).document()["predicates"][0]["others"][0]["reason"] == (
        "the attribute differs"
    )


def test_an_explanation_of_no_match_says_which_predicates_are_met() -> None:
    told = explain(matcher("{country~ = ireland~, state = full}"), read_event("{country = eire, state = vacant}"))
    assert [each.get("tuple") for each in told.document()["predicates"]] == ["country = eire", None]
    assert told.reason == "no tuple meets state = full"
    told = explain(matcher("{country = ireland~, country = eire~}"), read_event("{country = eire, state = vacant}"))
    assert [each["tuple"] for each in told.document()["predicates"]] == ["country = eire", "country = eire"]
    assert told.reason == "each predicate needs a tuple of its own, and some are met by the same one only"


class OneSided:
    """Of two opposites, only the first knows the other."""

    def opposites(self, word: str) -> frozenset[str]:
        return frozenset({"shut"}) if word == "ajar" else frozenset()


@pytest.mark.parametrize("pair", [("sealed", "unsealed"), ("charge", "discharge"), ("ajar", "shut")])
def test_opposites_rule_each_other_out_whoever_knows_it(pair: tuple[str, str]) -> None:
    for one, other in (pair, pair[::-1]):
        guards = Guards([f"door {one}", "door", f"{one} {other}"], OneSided())
        assert guards.ruled_out(f"door {other}") == {0}
        assert guards.why(f"door {other}", 0) is Guard.OPPOSITES
    assert not Guards(["it", "side"], OneSided()).ruled_out("unit inside")


def test_words_of_a_class_tell_things_apart() -> None:
    guards = Guards(["delivery on monday", "monday or friday", "third floor", "red alert"], BuiltInOpposites())
    assert guards.ruled_out("delivery on friday") == {0}
    assert guards.ruled_out("second floor") == {2}
    assert guards.ruled_out("green alert") == {3}


class Asked(Told):
    """Remembers of which phrases it was asked."""

    def __init__(self) -> None:
        super().__init__({("room", "chamber"): 0.8})
        self.phrases: set[str] = set()

    def relate(self, left: Sequence[str], right: Sequence[str]) -> Matrix:
        self.phrases.update(left)
        return super().relate(left, right)


def test_nobody_is_asked_about_what_the_guards_rule_out_for_all() -> None:
    asked = Asked()
    wanted = Matcher(read_subscription("{place~ = room~}", PRODUCT), Knowledge(asked))
    found = wanted.match(read_event("{place = 101, place = chamber, place = 102}"))
    assert found is not None
    assert found.mappings[0].tuples == (1,)
    assert found.degree == pytest.approx(0.8)
    assert asked.phrases == {"place", "chamber"}
