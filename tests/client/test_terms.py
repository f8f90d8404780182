"""Terms for application developers: what goes to the broker comes back, and values are those of Python."""

import copy
import pickle
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import assume, given

from client.values import any_term, natives, texts
from tidings.client.terms import IRI, BNode, Literal, bound, from_json, from_term, to_json, to_term
from tidings.client.values import Native
from tidings.model.errors import BadRequest, ResultsSyntaxError
from tidings.model.formats.results.json import term_value
from tidings.model.terms import XSD


@given(any_term)
def test_every_term_survives_the_way_there_and_back(term: IRI | BNode | Literal) -> None:
    back = from_term(to_term(term))
    assert type(back) is type(term)
    assert back == term
    assert from_json(to_json(term)) == term
    assert from_json(term_value(to_term(term))) == term


@given(natives)
def test_every_python_value_survives_the_way_there_and_back(value: Native) -> None:
    literal = from_term(to_term(value))
    assert isinstance(literal, Literal)
    assert literal.value == value
    assert type(literal.value) is type(value)


@given(any_term)
def test_terms_can_be_copied_and_pickled(term: IRI | BNode | Literal) -> None:
    for twin in (copy.copy(term), copy.deepcopy(term), pickle.loads(pickle.dumps(term))):
        assert twin == term
        assert type(twin) is type(term)
        assert repr(twin) == repr(term)


@pytest.mark.parametrize(
    ("value", "lexical", "datatype"),
    [
        (True, "true", "boolean"),
        (5, "5", "integer"),
        (21.5, "2.15E1", "double"),
        (float("inf"), "INF", "double"),
        (Decimal("1.50"), "1.5", "decimal"),
        (Decimal("1E3"), "1000", "decimal"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "2026-01-02T03:04:05Z", "dateTime"),
        (datetime(2026, 1, 2, 3, 4, 5, 600), "2026-01-02T03:04:05.0006", "dateTime"),
        (datetime(5, 1, 2, tzinfo=timezone(timedelta(hours=2))), "0005-01-02T00:00:00+02:00", "dateTime"),
        (date(2026, 1, 2), "2026-01-02", "date"),
        (time(23, 59, tzinfo=timezone(timedelta(hours=-5, minutes=-30))), "23:59:00-05:30", "time"),
        (timedelta(days=1, seconds=2.5), "P1DT2.5S", "dayTimeDuration"),
        (-timedelta(minutes=1), "-PT1M", "dayTimeDuration"),
        (b"\x00\xff", "AP8=", "base64Binary"),
    ],
)
def test_python_values_are_written_as_xsd_asks(value: Native, lexical: str, datatype: str) -> None:
    assert to_term(value) == f'"{lexical}"^^<{XSD}{datatype}>'


def test_a_string_is_a_plain_literal() -> None:
    assert to_term('say "hi"\n') == r'"say \"hi\"\n"'


@pytest.mark.parametrize(
    ("lexical", "datatype", "value"),
    [
        ("+007", "integer", 7),
        ("200", "unsignedByte", 200),
        ("1.10", "decimal", Decimal("1.10")),
        ("1", "boolean", True),
        ("2026-01-02T24:00:00Z", "dateTime", datetime(2026, 1, 3, tzinfo=UTC)),
        ("2026-01-02T03:04:05.123456789Z", "dateTime", datetime(2026, 1, 2, 3, 4, 5, 123456, UTC)),
        ("2026-01-02T03:04:05Z", "dateTimeStamp", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-01-02+01:00", "date", date(2026, 1, 2)),
        ("PT36H", "dayTimeDuration", timedelta(days=1.5)),
        ("0aFF", "hexBinary", b"\x0a\xff"),
        ("AP8=", "base64Binary", b"\x00\xff"),
    ],
)
def test_literals_have_the_value_of_their_datatype(lexical: str, datatype: str, value: Native) -> None:
    assert Literal(lexical, f"{XSD}{datatype}").value == value


@pytest.mark.parametrize(
    ("lexical", "datatype"),
    [
        ("many", "integer"), ("300", "unsignedByte"), ("1,5", "decimal"), ("yes", "boolean"), ("2026-02-30", "date"),
        ("-0044-03-15", "date"), ("12026-01-01T00:00:00Z", "dateTime"), ("2026-01-02T03:04:05", "dateTimeStamp"),
        ("P1M", "dayTimeDuration"), ("P1M", "duration"), ("P99999999999D", "dayTimeDuration"), ("abc", "hexBinary"),
        ("a", "base64Binary"), ("2026", "gYear"), ("x", "anyURI"),
    ],
)  # fmt: skip
def test_what_python_has_no_value_for_is_the_lexical_form(lexical: str, datatype: str) -> None:
    assert Literal(lexical, f"{XSD}{datatype}").value == lexical


def test_a_literal_says_what_it_is() -> None:
    plain, tagged, typed = Literal("a"), Literal("a", language="en"), Literal("1", f"{XSD}integer")
    assert (plain.datatype, plain.language) == (f"{XSD}string", None)
    assert tagged.datatype.endswith("langString")
    assert tagged.language == "en"
    assert [repr(plain), repr(tagged)] == ["Literal('a')", "Literal('a', language='en')"]
    assert repr(typed) == f"Literal('1', datatype='{XSD}integer')"


def test_terms_are_equal_if_they_are_the_same_term_and_plain_strings_compare_as_text() -> None:
    assert IRI("urn:a") == "urn:a"
    assert IRI("urn:a") != Literal("urn:a")
    assert Literal("1") != Literal("1", f"{XSD}integer")
    assert Literal("a", language="en") == Literal("a", language="EN")
    assert Literal("a", language="en") != Literal("a")
    assert Literal("a") == "a"
    assert IRI("urn:a") != 5
    assert len({IRI("a"), Literal("a"), BNode("a")}) == 3


def test_terms_never_change() -> None:
    with pytest.raises(AttributeError):
        Literal("a").language = "en"
    with pytest.raises(AttributeError):
        IRI("urn:a").label = "b"


@pytest.mark.parametrize("text", ["a b", "urn:<x>", 'urn:"', "urn:\n", "urn:{}", "urn:\\u0020"])
def test_what_is_no_iri_cannot_be_built(text: str) -> None:
    with pytest.raises(ValueError, match="not an IRI"):
        IRI(text)


def test_what_is_no_label_cannot_be_built() -> None:
    for label in ("", "a b", "-a", "a.", "nodeID://b1"):
        with pytest.raises(ValueError, match="label"):
            BNode(label)


def test_what_is_no_literal_cannot_be_built() -> None:
    for arguments in ({"language": "not a tag"}, {"language": ""}, {"datatype": "a b"}):
        with pytest.raises(ValueError, match="not a"):
            Literal("x", **arguments)
    with pytest.raises(ValueError, match="not both"):
        Literal("x", datatype=f"{XSD}string", language="en")
    with pytest.raises(ValueError, match="surrogate"):
        Literal("\ud800")


def test_values_that_rdf_cannot_write_are_refused() -> None:
    for value in (
        Decimal("NaN"),
        Decimal("Infinity"),
        Decimal("1E5000"),
        time(1, tzinfo=timezone(timedelta(hours=15))),
    ):
        with pytest.raises(ValueError, match=r"decimal|timezone"):
            to_term(value)
    with pytest.raises(TypeError, match="list is no value of RDF"):
        to_term([])  # type: ignore[arg-type]


def test_an_offset_that_xsd_cannot_write_becomes_the_same_instant_in_utc() -> None:
    odd = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=1, seconds=30)))
    literal = from_term(to_term(odd))
    assert isinstance(literal, Literal)
    assert literal == "2026-01-01T10:59:30Z"
    assert literal.value == odd


def test_what_is_no_value_of_a_result_is_an_error() -> None:
    with pytest.raises(ResultsSyntaxError):
        from_json({"type": "thing", "value": "x"})


@given(texts)
def test_values_are_bound_as_terms(text: str) -> None:
    assume("?" not in text)
    expected = f"SELECT ?a {{ ?a <urn:p>  {to_term(text)}  }}"
    assert bound("SELECT ?a { ?a <urn:p> ?b }", {"b": text}) == expected


def test_a_variable_that_is_not_there_is_named() -> None:
    with pytest.raises(BadRequest, match=r"no variable \?c to be bound; it has \?a, \?b"):
        bound("SELECT ?a { ?a <urn:p> ?b }", {"c": 1})
