"""WordNet's database files: synsets, relations, and the documents that are made of them."""

from pathlib import Path

import pytest

from tidings.lexicons.errors import WordNetDamaged, WordNetMissing
from tidings.lexicons.wordnet.documents import documents
from tidings.lexicons.wordnet.finding import wordnet_folder
from tidings.lexicons.wordnet.lookup import load_wordnet
from tidings.lexicons.wordnet.reading import Pointer, synsets

LICENCE = "  1 a licence, two spaces before each line\n"
CAR = (
    "00000100 06 n 02 car 0 motor_vehicle 1 002 @ 00000200 n 0000 ! 00000300 a 0101"
    ' | a road vehicle; "he needs a car"  \n'
)
VEHICLE = "00000200 06 n 01 vehicle 0 001 ~ 00000100 n 0000 | a conveyance that transports people  \n"
STILL = "00000300 00 s 01 still(p) 0 000 | not in motion  \n"


def small_wordnet(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "data.noun").write_text(LICENCE + CAR + VEHICLE)
    (folder / "data.verb").write_text(LICENCE)
    (folder / "data.adj").write_text(LICENCE + STILL)
    (folder / "data.adv").write_text(LICENCE)
    return folder


def test_synsets_have_words_relations_and_an_explanation(tmp_path: Path) -> None:
    car, vehicle, still = synsets(small_wordnet(tmp_path))
    assert car.words == ("car", "motor vehicle")
    assert tuple(car.pointers) == (Pointer("@", "n00000200", 0, 0), Pointer("!", "a00000300", 1, 1))
    assert car.gloss == 'a road vehicle; "he needs a car"'
    assert vehicle.id == "n00000200"
    assert still.words == ("still",)


def test_a_document_has_what_its_neighbours_say(tmp_path: Path) -> None:
    found = {document.title.split(" (")[0]: document for document in documents(small_wordnet(tmp_path))}
    assert "motor vehicle" in found["car"].text
    assert "transports people" in found["car"].text
    assert "not in motion" in found["car"].text
    assert "road vehicle" in found["vehicle"].text
    assert len({document.number for document in found.values()}) == 3
    parts = [document for part in range(2) for document in documents(tmp_path, part, 2)]
    assert sorted(parts) == sorted(found.values())


@pytest.mark.parametrize("line", ["nonsense\n", "00000100 06 n 02 car 0\n", "x0000100 06 n 01 car 0 000 | a car\n"])
def test_a_line_of_something_else_is_told(tmp_path: Path, line: str) -> None:
    (small_wordnet(tmp_path) / "data.verb").write_text(LICENCE + line)
    with pytest.raises(WordNetDamaged, match=r"data\.verb, line 2"):
        list(synsets(tmp_path))


def test_it_is_found_where_it_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = small_wordnet(tmp_path / "dict")
    assert wordnet_folder(folder) == folder
    monkeypatch.setenv("WNSEARCHDIR", str(folder))
    assert wordnet_folder() == folder
    monkeypatch.delenv("WNSEARCHDIR")
    monkeypatch.setenv("WNHOME", str(tmp_path))
    assert wordnet_folder() == folder
    with pytest.raises(WordNetMissing, match=r"has no data\.noun"):
        wordnet_folder(tmp_path)


def test_it_is_found_in_what_belongs_to_this_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("WNSEARCHDIR", "WNHOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    (tmp_path / "share").mkdir()
    assert wordnet_folder(small_wordnet(tmp_path / "share" / "wordnet")) == wordnet_folder()


def test_set_up_brought_wordnet_and_it_knows_what_means_the_same() -> None:
    words = load_wordnet()
    assert words.senses("vacant") & words.near("empty")
    assert words.senses("car park") & words.senses("parking lot")
    assert "occupied" in words.opposites("unoccupied")
