"""Range filters on a shared plan: only the thresholds that a change crosses are visited, and none is missed."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tidings.engine.engine import Engine
from tidings.engine.operators.thresholds import Range, Thresholds
from tidings.engine.plans.range_spu import RangeSpu
from tidings.engine.plans.spu import answer_rows
from tidings.engine.updates.executor import Core
from tidings.sparql.algebra import Comparator

operators: st.SearchStrategy[Comparator] = st.sampled_from(["<", "<=", ">", ">="])
texts = st.sampled_from(
    [
        "0",
        "1",
        "1.0",
        "01",
        "2",
        "2.5",
        "3e0",
        "-1",
        "1e-1",
        "0.1",
        '"x"',
        '"NaN"^^<http://www.w3.org/2001/XMLSchema#double>',
    ]
)
numbers = st.sampled_from(["0", "1", "1.0", "01", "2", "2.5", "3", "-1", "0.1", "16777217"])


def term(text: str) -> str:
    if text[0] == '"':
        return text
    kind = "double" if "e" in text else "decimal" if "." in text else "integer"
    return f'"{text}"^^<http://www.w3.org/2001/XMLSchema#{kind}>'


@given(operators, st.sets(numbers), st.lists(st.tuples(texts, st.sampled_from([1, -1, 2]))))
def test_the_crossed_thresholds_are_those_whose_weights_do_not_cancel(
    operator: Comparator, thresholds: set[str], changes: list[tuple[str, int]]
) -> None:
    condition = Range("?d", operator)
    index = Thresholds(condition)
    for threshold in thresholds:
        index.add(term(threshold))
    weighted = [(term(value), weight) for value, weight in changes]
    expected = {}
    for threshold in map(term, thresholds):
        total = sum(weight for value, weight in weighted if condition.holds(value, threshold))
        if total:
            expected[threshold] = total
    assert dict(index.crossed(weighted)) == expected


@given(st.lists(numbers, min_size=1))
def test_what_is_added_and_removed_leaves_nothing(thresholds: list[str]) -> None:
    index = Thresholds(Range("?d", ">"))
    for threshold in dict.fromkeys(thresholds):
        index.add(term(threshold))
    for threshold in dict.fromkeys(thresholds):
        assert index
        index.remove(term(threshold))
    assert not index


def test_subscriptions_that_differ_in_a_threshold_share_one_plan_and_only_the_crossed_are_told() -> None:
    engine = Engine(Core())
    engine.apply("INSERT DATA { <urn:lamp> <urn:dim> 50 }", now=0)
    made = {
        number: engine.subscribe(f"SELECT ?l {{ ?l <urn:dim> ?d FILTER(?d > {number}) }}", now=0)
        for number in range(100)
    }
    assert len({id(subscription.spu) for subscription, _ in made.values()}) == 1
    assert isinstance(made[0][0].spu, RangeSpu)
    assert [len(answer) for _, answer in made.values()] == [1] * 50 + [0] * 50
    commit = engine.apply("DELETE { ?l <urn:dim> ?d } INSERT { ?l <urn:dim> 53 } WHERE { ?l <urn:dim> ?d }", now=0)
    told = {notification.subscription.id for notification in commit.notifications}
    assert told == {made[number][0].id for number in (50, 51, 52)}


@given(operators, st.lists(st.tuples(st.integers(0, 2), texts), max_size=12), st.booleans())
def test_the_folded_answers_of_range_filters_are_those_of_full_evaluation(
    operator: Comparator, history: list[tuple[int, str]], shows_value: bool
) -> None:
    engine = Engine(Core())
    shown = "?l ?d" if shows_value else "?l"
    queries = [
        f"SELECT {shown} {{ ?l <urn:dim> ?d FILTER(?d {operator} {t}) }}"
        for t in ("0", "1", "1.0", "2.5", "2e0", "9" * 5000)
    ]
    queries.append(f"SELECT {shown} {{ <urn:lamp1> <urn:next> ?l . ?l <urn:dim> ?d FILTER(1 {operator} ?d) }}")
    answers = {}
    for query in queries:
        subscription, rows = engine.subscribe(query, now=0)
        answers[subscription.id] = (query, Counter(rows))
    engine.apply("INSERT DATA { <urn:lamp1> <urn:next> <urn:lamp2> }", now=0)
    for lamp, value in history:
        update = f"DELETE {{ <urn:lamp{lamp}> <urn:dim> ?d }} INSERT {{ <urn:lamp{lamp}> <urn:dim> {value} }} "
        commit = engine.apply(update + f"WHERE {{ OPTIONAL {{ <urn:lamp{lamp}> <urn:dim> ?d }} }}", now=0)
        for notification in commit.notifications:
            answer = answers[notification.subscription.id][1]
            for row, weight in notification.changes.items():
                answer[row] += weight
    for query, answer in answers.values():
        assert +answer == Counter(answer_rows(engine.core.query(query, now=0)))
