"""A term is one string, and the string is canonical N-Triples."""

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interning import interning
from tidings.model import terms

texts = st.text()
datatypes = st.sampled_from([terms.XSD_STRING, f"{terms.XSD}integer", "urn:odd:type", "http://example.org/t#^^"])
languages = st.sampled_from(["en", "EN", "de-AT", "x-Private"])


@given(texts)
def test_unescape_is_the_inverse_of_escape(text: str) -> None:
    assert terms.unescape(terms.escape(text)) == text


@given(texts)
def test_an_escaped_text_has_no_control_character_and_no_bare_quote(text: str) -> None:
    escaped = terms.escape(text)
    assert not any(char < " " or char == "\x7f" for char in escaped)
    assert '"' not in escaped.replace("\\\\", "").replace('\\"', "")


@given(texts, datatypes)
def test_a_literal_splits_into_what_it_was_made_of(text: str, datatype: str) -> None:
    assert terms.split_literal(terms.literal(text, datatype)) == (text, datatype, "")


@given(texts, languages)
def test_a_language_literal_splits_into_what_it_was_made_of(text: str, language: str) -> None:
    assert terms.split_literal(terms.lang_literal(text, language)) == (text, terms.RDF_LANG_STRING, language)


@given(texts, texts)
def test_literals_are_equal_exactly_when_their_texts_are(one: str, other: str) -> None:
    assert (terms.literal(one) == terms.literal(other)) == (one == other)


@given(st.text(st.characters(exclude_characters="\ufffe\uffff", exclude_categories=["Cs"])))
def test_the_oracle_spells_literals_the_same_way(text: str) -> None:
    assert str(pyoxigraph.Literal(text)) == terms.literal(text)


def test_a_literal_of_strings_names_no_datatype() -> None:
    assert terms.literal("a", terms.XSD_STRING) == '"a"'


def test_control_characters_without_a_letter_are_escaped_by_number() -> None:
    assert terms.literal("\x01\x7f\t") == '"\\u0001\\u007F\\t"'


@pytest.mark.parametrize(
    ("written", "meant"),
    [("\\u00E9", "é"), ("\\U0001F600", "😀"), ("\\'", "'"), ("\\b\\f", "\b\f"), ("\\\\n", "\\n"), ("plain", "plain")],
)
def test_every_escape_of_sparql_and_turtle_is_read(written: str, meant: str) -> None:
    assert terms.unescape(written) == meant


def test_an_unknown_escape_is_an_error() -> None:
    with pytest.raises(KeyError):
        terms.unescape("\\q")


def test_a_code_point_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ValueError, match="range"):
        terms.unescape("\\U00110000")


def test_the_first_character_tells_the_kind() -> None:
    assert terms.is_iri(terms.iri("urn:a"))
    assert terms.is_blank(terms.blank("b"))
    assert terms.is_literal(terms.literal("c"))


@given(texts)
def test_the_lexical_form_of_a_literal_is_its_text(text: str) -> None:
    assert terms.lexical_form(terms.lang_literal(text, "en")) == text


def test_the_lexical_form_of_an_iri_is_its_text() -> None:
    assert terms.lexical_form("<urn:a>") == terms.iri_text("<urn:a>") == "urn:a"


@interning
def test_equal_terms_are_one_object_once_interned() -> None:
    assert terms.intern("".join(["<urn:", "a>"])) is terms.intern("".join(["<ur", "n:a>"]))
