"""Topics, templates and the line of messages."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.gates.mqtt.line import MOST_IN_WORK, MOST_WAITING, Line, Turn
from tidings.gates.mqtt.messages import Message
from tidings.gates.mqtt.templates import look_up, read_template
from tidings.gates.mqtt.topics import check_filter, check_name, matches, overlap
from tidings.model.errors import BadRequest

LEVELS = st.lists(st.sampled_from(["a", "b", "", "$c"]), min_size=1, max_size=4)
FILTERS = st.tuples(
    st.lists(st.sampled_from(["a", "b", "", "+"]), min_size=1, max_size=4), st.sampled_from([[], ["#"]])
).map(lambda parts: "/".join(parts[0] + parts[1]))


@pytest.mark.parametrize(
    ("filter_", "topic", "does"),
    [
        ("a/b", "a/b", True),
        ("a/+", "a/b", True),
        ("a/+", "a", False),
        ("a/+", "a/b/c", False),
        ("a/#", "a/b/c", True),
        ("a/#", "a", True),  # MQTT 5, section 4.7.1.2
        ("#", "a/b", True),
        ("#", "$SYS/a", False),  # section 4.7.2
        ("+/a", "$SYS/a", False),
        ("$SYS/#", "$SYS/a", True),
        ("+/+", "/a", True),
        ("/+", "/a", True),
        ("+", "/a", False),
    ],
)
def test_filters_cover_what_the_standard_says(filter_: str, topic: str, does: bool) -> None:
    assert matches(filter_, topic) is does


@given(FILTERS, FILTERS, LEVELS)
def test_filters_that_cover_one_topic_overlap(one: str, other: str, levels: list[str]) -> None:
    topic = "/".join(levels)
    assert overlap(one, one)
    assert overlap(one, other) == overlap(other, one)
    if matches(one, topic) and matches(other, topic):
        assert overlap(one, other)


@pytest.mark.parametrize("topic", ["", "a/+", "#", "$SYS/a", "a\x00b", "x" * 70_000])
def test_what_is_no_name_of_a_topic_is_refused(topic: str) -> None:
    with pytest.raises(BadRequest):
        check_name(topic)


@pytest.mark.parametrize("filter_", ["", "a+", "a/#/b", "a#"])
def test_what_is_no_filter_is_refused(filter_: str) -> None:
    with pytest.raises(BadRequest):
        check_filter(filter_)


def test_a_template_is_filled_in_and_found_again() -> None:
    template = read_template("city/{area}/{{x}}/{ lamp }")
    assert template.names == ("area", "lamp")
    assert template.fill({"area": "north", "lamp": "7"}.__getitem__) == "city/north/{x}/7"
    found = template.pattern().fullmatch("city/north/{x}/7")
    assert found is not None
    assert found.groups() == ("north", "7")
    assert read_template("{a}").alone == "a"
    assert read_template("{a}{b}").alone is None
    for wrong in ("{", "}", "{}", "{a", "a}"):
        with pytest.raises(BadRequest):
            read_template(wrong)


def test_paths_lead_into_documents() -> None:
    document = {"a": [{"b": 1}], "c": None}
    assert look_up(document, "a.0.b") == 1
    assert [look_up(document, path) for path in ("a.1.b", "a.b", "c.d", "x", "a.0.b.c")] == [None] * 5


class Post:
    """A line whose messages are handled when a test says so."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.acknowledged: list[int] = []
        self.later: list[tuple[float, Callable[[], None]]] = []
        self.line = Line(self.turns.append, self.acknowledged.append, lambda *call: self.later.append(call))

    def put(self, *tokens: int) -> None:
        for token in tokens:
            self.line.put(Message(str(token), b"", token=token))


def test_messages_are_acknowledged_in_the_order_in_which_they_came() -> None:
    post = Post()
    post.put(1, 2, 3, 0, 4)
    post.turns[2].done()
    post.turns[1].accept()
    assert post.acknowledged == []
    post.turns[0].done()
    assert post.acknowledged == [1, 2, 3]
    post.turns[1].done()
    post.turns[4].done()
    post.turns[3].done()
    assert (post.acknowledged, len(post.line)) == ([1, 2, 3, 4], 0)


def test_so_many_are_in_work_and_those_that_met_a_limit_go_first_when_it_is_over() -> None:
    post = Post()
    post.put(*range(1, MOST_IN_WORK + 3))
    assert len(post.turns) == MOST_IN_WORK
    post.turns[5].again(0.5)
    post.turns[4].again(0.1)
    post.turns[0].done()
    assert len(post.turns) == MOST_IN_WORK  # nobody overtakes those that wait
    ((seconds, release),) = post.later
    assert seconds == 0.5
    release()
    assert [turn.message.token for turn in post.turns[MOST_IN_WORK:]] == [5, 6, MOST_IN_WORK + 1]


def test_messages_that_nobody_has_to_keep_are_dropped_when_there_are_too_many() -> None:
    post = Post()
    post.put(*[0] * (MOST_IN_WORK + MOST_WAITING + 3))
    assert post.line.dropped == 3


def test_after_a_new_connection_nothing_of_the_former_one_is_acknowledged() -> None:
    post = Post()
    post.put(*range(1, MOST_IN_WORK + 2))
    post.line.forget()
    assert len(post.line) == MOST_IN_WORK  # the one that waited comes again
    post.put(9_000)
    for turn in list(post.turns):
        turn.done()
    assert post.acknowledged == []
    post.turns[-1].done()
    assert post.acknowledged == [9_000]
