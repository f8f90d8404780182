"""What a word may be a form of, and as which part of speech."""

import pytest

from tidings.lexicons.wordnet.forms import base_forms, inflected


@pytest.mark.parametrize(
    ("item", "form", "parts"),
    [
        ("recording", "record", "v"),
        ("mended", "mend", "v"),
        ("stopped", "stop", "v"),
        ("tidied", "tidy", "v"),
        ("forgotten", "forget", "v"),
        ("cars", "car", "nv"),
        ("ferries", "ferry", "nv"),
        ("shelves", "shelf", "n"),
        ("called off", "call off", "v"),
        ("left behind", "leave behind", "v"),
        ("parking lots", "parking lot", "n"),
    ],
)
def test_the_ending_says_what_a_word_is_a_form_of(item: str, form: str, parts: str) -> None:
    found = dict(base_forms(item))
    assert found[item] == "nvar"
    assert found[form] == parts


def test_a_word_too_short_for_an_ending_is_no_form() -> None:
    assert dict(base_forms("bed")) == {"bed": "nvar"}
    assert dict(base_forms("")) == {"": "nvar"}


def test_a_term_of_several_words_is_a_form_by_its_first_or_its_last() -> None:
    assert {form for form, _ in base_forms("heavy goods trains")} == {
        "heavy goods trains",
        "heavy goods train",
    }


@pytest.mark.parametrize("form", ["closed", "closing", "closes"])
def test_forms_lead_back_to_their_verb(form: str) -> None:
    assert form in inflected("close")
    assert dict(base_forms(form))["close"] in ("v", "nv")


def test_irregular_forms_are_forms_too() -> None:
    assert {"forgot", "forgotten", "forgetting"} <= {*inflected("forget")}
    assert "stopped" in inflected("stop")
