"""A MediaWiki dump in pieces: each page once, wherever the pieces end, and damage by its name."""

import bz2
import random
from pathlib import Path

import pytest

from spark.dumps import chopped, dump, multistream, page
from tidings.spark.esa.dump import Piece, pieces
from tidings.spark.esa.errors import DumpDamaged, DumpUnreadable
from tidings.spark.esa.pages import Page, Skipped, pages
from tidings.spark.esa.wikitext import spoken

CHANCE = random.Random(1)
ARTICLES = [
    page(number, f"Title {number} & more", f"text {number} <b>bold</b> &amp; " + "é沙 " * CHANCE.randrange(400))
    for number in range(1, 30)
]
NUMBERS = list(range(1, 30))


def numbers(found: list[Piece]) -> list[int]:
    read = [each for piece in found for each in pages(piece)]
    return [each.number for each in read if isinstance(each, Page)]


@pytest.mark.parametrize("size", [7, 64, 1000, 4096, 1 << 20])
def test_each_page_is_in_one_piece_of_a_plain_dump(tmp_path: Path, size: int) -> None:
    path = tmp_path / "dump.xml"
    path.write_bytes(dump(ARTICLES if size > 7 else ARTICLES[:3]))
    found = pieces(path, plain=size)
    assert numbers(found) == (NUMBERS if size > 7 else NUMBERS[:3])


@pytest.mark.parametrize("size", [1, 500, 5_000, 1 << 20])
@pytest.mark.parametrize("packing", ["multistream", "chopped", "single"])
def test_each_page_is_in_one_piece_of_a_packed_dump(tmp_path: Path, packing: str, size: int) -> None:
    text = dump(ARTICLES)
    packed = {"multistream": multistream(ARTICLES, 7), "chopped": chopped(text, 997), "single": bz2.compress(text)}
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(packed[packing])
    found = pieces(path, packed=size)
    assert len(found) > 1 or size > 500 or packing == "single"
    assert numbers(found) == NUMBERS


def test_a_page_has_its_number_its_title_and_its_last_text(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    two = page(8, "Two", "old").replace(
        "</revision>", "</revision><revision><id>99</id><text>new &amp; so</text></revision>"
    )
    path.write_bytes(dump([page(7, "A & B", "text <ref>x</ref>"), two]))
    assert list(pages(pieces(path)[0])) == [Page(7, "A & B", "text <ref>x</ref>"), Page(8, "Two", "new & so")]


def test_what_is_no_article_is_skipped_and_told_why(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    odd = [
        page(1, "Car", "", redirect="Automobile"),
        page(2, "Bus", "#redirect [[Coach]]"),
        page(3, "Talk:Car", "words", space=1),
        page(4, "Nothing", "  "),
        page(5, "None", "x").replace(">x</text>", " />").replace("</text>", ""),
        page(6, "Nameless", "x").replace("<title>Nameless</title>", ""),
        page(7, "Book", "word " * 50_000),
        page(8, "Good", "a good page"),
    ]
    path.write_bytes(dump(odd))
    assert list(pages(pieces(path)[0], largest=100_000)) == [
        Skipped.REDIRECT, Skipped.REDIRECT, Skipped.NAMESPACE, Skipped.EMPTY, Skipped.EMPTY, Skipped.MALFORMED,
        Skipped.TOO_LARGE, Page(8, "Good", "a good page"),
    ]  # fmt: skip


def test_a_dump_that_is_cut_off_or_damaged_says_where(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml.bz2"
    whole = multistream(ARTICLES, 7)
    path.write_bytes(whole[:-200])
    with pytest.raises(DumpDamaged, match=r"is cut off: the stream that begins at byte [\d,]+ does not end"):
        numbers(pieces(path, packed=1))
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0xFF
    path.write_bytes(damaged)
    with pytest.raises(DumpDamaged, match="is damaged in the stream that begins at byte"):
        numbers(pieces(path, packed=1))
    path.write_bytes(whole + b"something else")
    with pytest.raises(DumpDamaged, match="is damaged in the stream"):
        numbers(pieces(path, packed=1))
    plain = tmp_path / "dump.xml"
    plain.write_bytes(dump(ARTICLES)[:-100])
    with pytest.raises(DumpDamaged, match="its last page does not end"):
        numbers(pieces(plain))


def test_something_else_is_no_dump(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear Sarah,")
    with pytest.raises(DumpUnreadable, match="no MediaWiki dump"):
        pieces(path)
    with pytest.raises(DumpUnreadable, match="No such file"):
        pieces(tmp_path / "nowhere.xml")


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        ("'''Car''' is a [[vehicle]].", "'''Car''' is a vehicle."),
        ("[[motor vehicle|Cars]] drive", "Cars drive"),
        ("{{Infobox|a={{nested|{{deep}}}}}}Text", "Text"),
        ("Fact.<ref name=x>{{cite|title=Book}}</ref> More<ref name=x /> text", "Fact. More text"),
        ("{| class=x\n| cell\n|}after", "after"),
        ("[[File:car.jpg|thumb|A [[red]] car]]Text", "Text"),
        ("[http://example.org/some/path the label]", "[ the label]"),
        ("a<br />b<!-- hidden words -->c &nbsp; d", "a b c d"),
        ("a<ref name=x /> b<REF>c <!-- d</ref> e --> f<Math>g</MATH >h <!-- i", "a b e --> f h <!-- i"),
        ("<ref>a <math>b</math> c", "a c"),
        ("== Heading ==\n__NOTOC__\n[[Category:Road vehicles]]", "== Heading == Category:Road vehicles"),
    ],
)
def test_markup_goes_and_words_stay(wikitext: str, expected: str) -> None:
    assert " ".join(spoken(wikitext).split()) == expected


@pytest.mark.parametrize("sign", ["{{", "[[", "{|", "<ref>", "<!--", "[[File:", "<b ", "{{a|[[b|", "<ref", "http://"])
def test_signs_that_are_never_closed_take_no_longer_than_others(sign: str) -> None:
    assert "end" in spoken(sign * 20_000 + " end")
