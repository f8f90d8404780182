"""Tags go through a parser that lower-cases them and come back in their own case."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.model.formats.casing import AT_SIGN, XML_LANG, TagCases, TagSyntax

pieces = st.sampled_from(
    [
        "@",
        "EN",
        "en",
        "-",
        "GB",
        "1",
        " ",
        '"',
        "'",
        "xml:lang",
        "=",
        "xm",
        "x",
        "@EN-gb",
        'xml:lang = "EN-gb"',
        "é",
        "\n",
    ]
)
documents = st.lists(pieces).map("".join)


def cut(document: bytes, size: int) -> list[bytes]:
    return [document[start : start + size] for start in range(0, len(document), size)]


@pytest.mark.parametrize("syntax", [AT_SIGN, XML_LANG], ids=["at sign", "xml:lang"])
@given(documents, st.integers(1, 9))
def test_what_is_hidden_is_restored_wherever_the_chunks_are_cut(syntax: TagSyntax, document: str, size: int) -> None:
    cases = TagCases(syntax)
    hidden = b"".join(cases.hide(cut(document.encode(), size)))
    assert cases.restore(hidden.decode()) == document


@pytest.mark.parametrize("syntax", [AT_SIGN, XML_LANG], ids=["at sign", "xml:lang"])
@given(documents, st.integers(1, 9))
def test_where_the_chunks_are_cut_makes_no_difference(syntax: TagSyntax, document: str, size: int) -> None:
    def tags(chunks: list[bytes]) -> tuple[int, list[str]]:
        cases = TagCases(syntax)
        return len(b"".join(cases.hide(chunks))), cases._tags

    assert tags(cut(document.encode(), size)) == tags([document.encode()])


def test_a_document_without_upper_case_tags_is_left_as_it_is() -> None:
    document = b'@prefix e: <http://e/> . e:a e:b "x"@en-gb .'
    assert b"".join(TagCases(AT_SIGN).hide([document])) == document


def test_a_hidden_tag_has_no_upper_case_letter() -> None:
    hidden = b"".join(TagCases(AT_SIGN).hide([b'"x"@EN-Latn-GB']))
    assert hidden == hidden.lower() != b'"x"@en-latn-gb'


def test_what_is_no_tag_stays_for_the_parser_to_complain_of() -> None:
    document = b'"x"@EN1-, "y"@Muchtoolongtag'
    assert b"".join(TagCases(AT_SIGN).hide([document])) == document
