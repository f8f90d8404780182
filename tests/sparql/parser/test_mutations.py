"""Valid texts with tokens dropped, doubled, swapped or foreign: the parser accepts or refuses, and never breaks."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strategies.queries import Draw, selects
from strategies.updates import request, requests
from tidings.model.errors import SparqlSyntaxError
from tidings.sparql.parser import parse_query, parse_update
from tidings.sparql.parser.tokens import tokenize

SETTINGS = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
FOREIGN = (
    *("{", "}", "(", ")", "[", "]", ".", ";", ",", "*", "+", "-", "?", "!", "^", "|", "/", "^^", "&&", "=", "<", "@en"),
    *("SELECT", "WHERE", "FILTER", "OPTIONAL", "GRAPH", "BIND", "AS", "VALUES", "UNDEF", "EXISTS", "NOT", "a", "IN"),
    *("INSERT", "DELETE", "DATA", "WITH", "USING", "COUNT", "GROUP", "BY", "ORDER", "LIMIT", "DISTINCT", "BASE"),
    *(
        "?x",
        "$y",
        "<urn:a>",
        "x:y",
        ":",
        "_:b",
        "1",
        "-1.5",
        ".5",
        "1e3",
        "'s'",
        '"',
        "'",
        "\\",
        "\\u0041",
        "\x00",
        "é",
    ),
)


@st.composite
def mutated(draw: Draw, texts: st.SearchStrategy[str]) -> str:
    tokens = tokenize(draw(texts))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(tokens) - 1))
        match draw(st.sampled_from(("drop", "double", "swap", "foreign", "cut"))):
            case "drop":
                tokens[at : at + 1] = []
            case "double":
                tokens.insert(at, tokens[at])
            case "swap":
                tokens[at], tokens[-at] = tokens[-at], tokens[at]
            case "cut":
                tokens = tokens[:at]
            case _:
                tokens.insert(at, draw(st.sampled_from(FOREIGN)))
        tokens = tokens or [""]
    return " ".join(tokens)


@SETTINGS
@given(mutated(selects()) | st.text(max_size=30))
def test_a_damaged_query_is_accepted_or_refused(text: str) -> None:
    try:
        parse_query(text)
    except SparqlSyntaxError as error:
        assert_placed(error, text)


@SETTINGS
@given(mutated(requests.map(request)) | st.text(max_size=30))
def test_a_damaged_update_is_accepted_or_refused(text: str) -> None:
    try:
        parse_update(text)
    except SparqlSyntaxError as error:
        assert_placed(error, text)


def assert_placed(error: SparqlSyntaxError, text: str) -> None:
    """The place of an error is in the text, or just behind it."""
    lines = text.split("\n")
    assert 1 <= error.line <= len(lines)
    assert 1 <= error.column <= len(lines[error.line - 1]) + 1
    assert error.expected
