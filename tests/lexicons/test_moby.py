"""The Moby Thesaurus: words by their lines, and what may stand for them."""

from pathlib import Path

import numpy as np
import pytest

from tidings.lexicons.errors import MobyMissing
from tidings.lexicons.moby.finding import moby_file
from tidings.lexicons.moby.lookup import Moby, load_moby

LINES = """\
automobile,car,motor car,vehicle
car,auto,automobile,Vehicle
Polish,Slav
polish,rub,smooth
rub,polish
vehicle,car
"""


def small_moby(folder: Path, lines: str = LINES) -> Path:
    path = folder / "words.txt"
    path.write_text(lines)
    return path


def numbers(*words: str) -> list[int]:
    """The lines of words that have one; those that differ in case only have one number."""
    order = ["automobile", "car", "polish", "rub", "vehicle"]
    return sorted(order.index(word) for word in words)


def test_a_word_has_the_words_of_its_line_that_have_one_themselves(tmp_path: Path) -> None:
    moby = Moby(small_moby(tmp_path))
    assert moby.known("car").tolist() == numbers("car")
    assert moby.listed("car").tolist() == numbers("car", "automobile", "vehicle")
    assert moby.listed("automobile").tolist() == numbers("automobile", "car", "vehicle")
    assert moby.known("motor car").tolist() == moby.listed("motor car").tolist() == []


def test_forms_of_words_and_words_in_any_case_are_found(tmp_path: Path) -> None:
    moby = Moby(small_moby(tmp_path))
    assert moby.known("cars").tolist() == numbers("car")
    assert moby.listed("cars").tolist() == moby.listed("car").tolist()
    assert moby.listed("polished").tolist() == numbers("polish", "rub")  # of both its lines
    assert moby.listed("").tolist() == moby.listed("nothing of the kind").tolist() == []


def test_lists_that_were_forgotten_are_found_again(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(10_000)]
    moby = Moby(small_moby(tmp_path, "".join(f"{a},{b}\n" for a, b in zip(words, [*words[1:], words[0]], strict=True))))
    for number in (0, 5, 9_999, 0):
        assert moby.listed(words[number]).tolist() == sorted([number, (number + 1) % 10_000])
        for each in words[:9_000]:
            moby.listed(each)


@pytest.mark.parametrize("text", ["", "no comma here\n", ",nothing before it\n"])
def test_a_file_without_such_lines_is_none(tmp_path: Path, text: str) -> None:
    with pytest.raises(MobyMissing):
        Moby(small_moby(tmp_path, text))


def test_it_is_found_where_packages_put_it_or_as_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = small_moby(tmp_path)
    assert moby_file(named) == named
    with pytest.raises(MobyMissing, match="there is no file"):
        moby_file(tmp_path / "elsewhere")
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    with pytest.raises(MobyMissing, match=r"scripts/tool moby|npm install"):
        moby_file()
    package = tmp_path / "share" / "node_modules" / "moby"
    package.mkdir(parents=True)
    small_moby(package)
    assert moby_file() == package / "words.txt"
    own = tmp_path / "share" / "moby"
    own.mkdir()
    small_moby(own)
    assert moby_file() == own / "words.txt"


def test_set_up_brought_it_and_it_lists_what_may_stand_for_a_word() -> None:
    moby = load_moby()
    for word, other in [("storm", "gale"), ("canteen", "cafeteria"), ("anchored", "moored")]:
        assert np.intersect1d(moby.listed(word), moby.known(other)).size
        assert np.intersect1d(moby.listed(other), moby.known(word)).size
    assert not np.intersect1d(moby.listed("storm"), moby.known("potato")).size
