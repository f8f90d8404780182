"""The forward pass of a transformer: what it computes, written down naively, and that company changes no bit of it."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import erf

from tidings.matching.transformer import Dense, encoder_of

WIDTH, FEED, HEADS, LAYERS, WORDS, LONGEST = 24, 40, 3, 2, 50, 40
EPSILON = 1e-6


def drawn() -> dict[str, NDArray[np.float32]]:
    """Weights of a small model, as they are called in files."""
    chance = np.random.default_rng(7)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (WORDS, WIDTH),
        "embeddings.position_embeddings.weight": (LONGEST, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        for part in ("query", "key", "value"):
            shapes |= dense(f"{name}.attention.self.{part}", WIDTH, WIDTH)
        shapes |= dense(f"{name}.attention.output.dense", WIDTH, WIDTH) | dense(f"{name}.output.dense", FEED, WIDTH)
        shapes |= dense(f"{name}.intermediate.dense", WIDTH, FEED)
        for part in ("attention.output", "output"):
            shapes |= {f"{name}.{part}.LayerNorm.weight": (WIDTH,), f"{name}.{part}.LayerNorm.bias": (WIDTH,)}
    return {name: chance.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def dense(name: str, inputs: int, outputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


WEIGHTS = drawn()
ENCODER = encoder_of(WEIGHTS, LAYERS, HEADS, EPSILON)
PHRASES = st.lists(st.lists(st.integers(0, WORDS - 1), min_size=1, max_size=LONGEST), min_size=1, max_size=12)


def naive(pieces: Sequence[int]) -> NDArray[np.float64]:
    """One phrase, piece by piece and head by head, with numbers of double length."""
    known = {name: each.astype(np.float64) for name, each in WEIGHTS.items()}

    def apply(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(known[f"{name}.weight"] @ x + known[f"{name}.bias"])

    def norm(name: str, x: NDArray[np.float64]) -> NDArray[np.float64]:
        centred = (x - x.mean()) / np.sqrt(x.var() + EPSILON)
        return np.asarray(centred * known[f"{name}.weight"] + known[f"{name}.bias"])

    embedded = "embeddings.{}_embeddings.weight".format
    xs = [
        norm("embeddings.LayerNorm", known[embedded("word")][piece] + known[embedded("position")][place]
             + known[embedded("token_type")][0])
        for place, piece in enumerate(pieces)
    ]  # fmt: skip
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            [apply(f"{name}.attention.self.{part}", x) for x in xs] for part in ("query", "key", "value")
        )
        mixed = []
        for mine in query:
            heads = []
            for part in np.split(np.arange(WIDTH), HEADS):
                raised = np.exp([mine[part] @ other[part] / np.sqrt(WIDTH / HEADS) for other in key])
                heads.append(sum(each * other[part] for each, other in zip(raised / raised.sum(), value, strict=True)))
            mixed.append(np.concatenate(heads))
        attended = [apply(f"{name}.attention.output.dense", each) for each in mixed]
        xs = [norm(f"{name}.attention.output.LayerNorm", x + each) for x, each in zip(xs, attended, strict=True)]
        wide = [apply(f"{name}.intermediate.dense", x) for x in xs]
        fed = [apply(f"{name}.output.dense", each * (1 + erf(each / np.sqrt(2))) / 2) for each in wide]
        xs = [norm(f"{name}.output.LayerNorm", x + each) for x, each in zip(xs, fed, strict=True)]
    mean = sum(xs) / len(xs)
    return np.asarray(mean / np.linalg.norm(mean))


@given(PHRASES)
def test_the_forward_pass_is_the_naive_one(phrases: list[list[int]]) -> None:
    found = ENCODER.encode(phrases)
    assert found.dtype == np.float32
    for phrase, vector in zip(phrases, found, strict=True):
        assert np.allclose(vector, naive(phrase), atol=2e-5)


@given(PHRASES)
def test_a_phrase_has_the_same_vector_in_any_company_to_the_last_bit(phrases: list[list[int]]) -> None:
    together, backwards = ENCODER.encode(phrases), ENCODER.encode(phrases[::-1])
    assert np.array_equal(together, backwards[::-1])
    for phrase, vector in zip(phrases, together, strict=True):
        assert np.array_equal(ENCODER.encode([phrase])[0], vector)


def test_more_phrases_than_go_through_together_are_done_by_and_by() -> None:
    phrases = [[number % WORDS] * (1 + number % LONGEST) for number in range(400)]
    assert sum(map(len, phrases)) > 2 * 2_048
    together = ENCODER.encode(phrases)
    for place in range(0, 400, 57):
        assert np.array_equal(together[place], ENCODER.encode([phrases[place]])[0])
    assert ENCODER.encode([]).shape == (0, WIDTH)


@pytest.mark.parametrize(("inputs", "outputs"), [(384, 1152), (1536, 384), (384, 200), (3, 5)])
def test_a_product_in_parts_is_the_product(inputs: int, outputs: int) -> None:
    chance = np.random.default_rng(3)
    weight, bias = chance.random((inputs, outputs), np.float32), chance.random(outputs, np.float32)
    rows = chance.random((8, inputs), np.float32)
    exact = rows.astype(np.float64) @ weight.astype(np.float64) + bias
    assert np.allclose(Dense(weight, bias)(rows), exact, rtol=1e-5)


def test_weights_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(ValueError, match=r"a weight of \(24, 40\) has a bias of \(39,\)"):
        encoder_of(WEIGHTS | {"encoder.layer.1.intermediate.dense.bias": np.zeros(39, np.float32)}, LAYERS, HEADS, 0.0)
    with pytest.raises(KeyError, match=r"encoder\.layer\.2"):
        encoder_of(WEIGHTS, LAYERS + 1, HEADS, EPSILON)
