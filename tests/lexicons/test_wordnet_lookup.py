"""WordNet by look-up in its sorted files: the same as reading all of it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.lexicons.errors import WordNetDamaged
from tidings.lexicons.wordnet.lookup import WordNet, load_wordnet

LICENCE = "  1 a licence, two spaces before each line\n"


def small_wordnet(folder: Path, lemmas: tuple[str, ...] = ()) -> Path:
    """Cars, vehicles, and being vacant or occupied; besides them, lemmas that all mean one thing."""
    data, places = LICENCE, {}
    for name, line in {
        "car": "{} 06 n 02 car 0 motor_vehicle 1 001 @ {vehicle:08} n 0000 | a road vehicle  \n",
        "vehicle": "{} 06 n 01 vehicle 0 000 | a conveyance  \n",
    }.items():
        places[name] = len(data)
        data += line
    vehicle = len(LICENCE) + len("00000000 06 n 02 car 0 motor_vehicle 1 001 @ 00000000 n 0000 | a road vehicle  \n")
    data = data.format(f"{len(LICENCE):08}", f"{vehicle:08}", vehicle=vehicle)
    (folder / "data.noun").write_text(data)
    nouns = {"car": len(LICENCE), "motor_vehicle": len(LICENCE), "vehicle": vehicle, **dict.fromkeys(lemmas, vehicle)}
    index = "".join(f"{lemma} n 1 1 @ 1 0 {place:08}  \n" for lemma, place in sorted(nouns.items()))
    (folder / "index.noun").write_text(LICENCE + index)
    first, second = len(LICENCE), len(LICENCE) + len(_adjective("vacant", 0, 0))
    (folder / "data.adj").write_text(
        LICENCE + _adjective("vacant", first, second) + _adjective("occupied", second, first)
    )
    (folder / "index.adj").write_text(f"{LICENCE}occupied a 1 1 ! 1 0 {second:08}  \nvacant a 1 1 ! 1 0 {first:08}  \n")
    for part in ("verb", "adv"):
        (folder / f"data.{part}").write_text(LICENCE)
        (folder / f"index.{part}").write_text(LICENCE)
    return folder


def _adjective(word: str, place: int, other: int) -> str:
    return f"{place:08} 00 a 01 {word} 0 001 ! {other:08} a 0101 | a state  \n"


def test_words_of_a_synset_share_a_sense(tmp_path: Path) -> None:
    words = WordNet(small_wordnet(tmp_path))
    assert words.senses("car") == words.senses("motor vehicle") != frozenset()
    assert words.senses("cars") == words.senses("car")
    assert words.senses("vehicle") <= words.near("car")
    assert words.senses("zebra") == words.near("zebra") == frozenset()
    assert words.has("motor vehicle")
    assert not words.has("motor car")


def test_a_lemma_with_a_hyphen_is_found_by_its_words(tmp_path: Path) -> None:
    words = WordNet(small_wordnet(tmp_path, ("built-in_oven", "drive-in")))
    assert words.senses("drive in") == words.senses("vehicle")
    assert words.has("drive in")
    assert not words.has("built in oven")  # nor any other mixture


def test_a_form_of_a_verb_has_no_sense_of_the_noun(tmp_path: Path) -> None:
    words = WordNet(small_wordnet(tmp_path, ("record", "car_park")))
    assert words.senses("records") == words.senses("record") != frozenset()
    assert words.senses("recording") == frozenset()
    assert words.has("car parks")
    assert words.senses("car parks") == words.senses("car park")


def test_antonyms_are_opposites(tmp_path: Path) -> None:
    words = WordNet(small_wordnet(tmp_path))
    assert words.opposites("vacant") == {"occupied"}
    assert words.opposites("occupied") == {"vacant"}
    assert words.opposites("car") == frozenset()


@given(st.sets(st.text("abcdefgh_-'.0123456789", min_size=1, max_size=6), max_size=40))
def test_every_lemma_of_an_index_is_found_and_no_other(lemmas: set[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        words = WordNet(small_wordnet(Path(folder), tuple(lemmas)))
        assert all(words.has(lemma) for lemma in lemmas)
        assert not any(words.has(lemma + "z") for lemma in lemmas)


def test_lemmas_are_found_wherever_they_are_in_a_large_index(tmp_path: Path) -> None:
    lemmas = tuple(f"lemma{number:x}" for number in range(2_000))
    words = WordNet(small_wordnet(tmp_path, lemmas))
    assert all(words.has(lemma) for lemma in lemmas)
    assert not any(words.has(lemma) for lemma in ("", "a", "lemm", "lemma", "lemma1g", "lemmaz", "zebra"))


def test_opposites_come_in_all_their_forms_and_by_what_a_word_is_like() -> None:
    words = load_wordnet()
    assert {"close", "closed", "closing"} <= words.opposites("opened")
    assert {"decreased", "lessened"} <= words.opposites("increased")
    assert "dry" in words.opposites("damp")
    assert "damp" not in words.opposites("damp")


def test_a_file_that_is_missing_is_said(tmp_path: Path) -> None:
    (small_wordnet(tmp_path) / "index.adv").unlink()
    with pytest.raises(WordNetDamaged, match=r"index\.adv"):
        WordNet(tmp_path)
