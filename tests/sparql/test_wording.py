"""A text that has the wording of another one has its tokens, and other constants."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tidings.sparql.parser.tokens import tokenize
from tidings.sparql.prepared import OFTEN, Templates
from tidings.sparql.wording import wording

TOKENS = [
    "?x", "{", "}", "(", ")", ".", ",", ";", "a", "BIND", "ns:p", ":", "<", "<=", "||", "^^", "@en", "-", "+", "/", "[",
    "]", "_:b", "#", "'", '"', "\n", "<urn:p>", "5", "''",
]  # fmt: skip
CONSTANTS = [
    "<urn:a>", "<>", "ns:a", "ns:a.b", ":", ":5", "a:", "5", "-5", "+.5", "5.5", "5.", "5e3", ".5", "'a'", "''", '""',
    '"a.b"', "'''a'b'''", '"""a""b"""', "'a' # b", "true", "ns:a.", "<a b>", "'a\\'b'", "5.5e3", "é:é", "?x", "@en",
]  # fmt: skip
GAPS = ["", " ", "\n", " # 'a'\n", "\t"]


@given(
    st.lists(st.tuples(st.sampled_from(TOKENS), st.sampled_from(GAPS)), max_size=4),
    st.tuples(st.sampled_from(CONSTANTS[:20]), st.sampled_from(GAPS)),
    st.lists(st.tuples(st.sampled_from(TOKENS), st.sampled_from(GAPS)), max_size=4),
    st.sampled_from(CONSTANTS),
)
@example([("(", ""), ("5", "")], ("-5", ""), [(")", "")], "5")
@example([("{", "")], ("<urn:a>", ""), [(".", ""), ("5", "")], "<urn:b>")
@example([("{", " ")], ("5", ""), [(".", " "), ("}", "")], "5.5")
@example([("(", "")], ("ns:a", ""), [(")", "")], "ns:a.b")
def test_a_text_of_the_same_wording_has_the_same_tokens_but_for_its_constant(
    before: list[tuple[str, str]], constant: tuple[str, str], behind: list[tuple[str, str]], other: str
) -> None:
    start = "".join(token + gap for token, gap in before)
    rest = constant[1] + "".join(token + gap for token, gap in behind)
    text, tokens = start + constant[0] + rest, tokenize(start + constant[0] + rest)
    place = len(tokenize(start)) - 1
    if place >= len(tokens) or tokens[place] != constant[0]:
        return
    known = wording(text, [place])
    match = None if known is None else known.fullmatch(start + other + rest)
    if match is not None:
        assert tokenize(start + other + rest) == [*tokens[:place], match[1], *tokens[place + 1 :]]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("INSERT DATA { <urn:a> <urn:p> 5 }", "INSERT DATA { <urn:b> <urn:p> 7.5 }"),
        ("INSERT DATA {<urn:a> <urn:p> 'x'}", "INSERT DATA {<urn:b> <urn:p> '''y''z'''}"),
        ("INSERT DATA { <urn:a> <urn:p> 'x'. }", "INSERT DATA { <urn:b> <urn:p> 'y'. }"),
        ("INSERT DATA { <urn:a> <urn:p> '5'^^<urn:t> }", "INSERT DATA { <urn:a> <urn:p> '6'^^<urn:t> }"),
    ],
)
def test_a_kind_that_comes_often_is_known_by_its_wording(first: str, second: str) -> None:
    places = [number for number, (a, b) in enumerate(zip(tokenize(first), tokenize(second), strict=True)) if a != b]
    known = wording(first, places)
    assert known is not None
    match = known.fullmatch(second)
    assert match is not None
    assert [*match.groups()] == [tokenize(second)[place] for place in places]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?s ?p 5. }",
        "SELECT * { ?s ?p ns:a. }",
        "SELECT (1-5 AS ?x) {}",
        "SELECT * { ?s ?p 5} #" + "long" * 2_000,
        "SELECT ('\\u0041' = 5) {}",
    ],
)
def test_what_could_be_mistaken_has_no_wording(text: str) -> None:
    place = next(number for number, token in enumerate(tokenize(text)) if token in {"5", "-5", "ns:a"})
    assert wording(text, [place]) is None


def test_texts_that_come_often_are_read_as_those_that_come_once() -> None:
    templates = Templates(lambda cursor, _: cursor.text)
    text = "{}"
    for _ in range(3 * OFTEN):
        assert templates.prepare(text) == (text, ())
    assert templates.misses == 1
    assert templates.hits == 3 * OFTEN - 1
