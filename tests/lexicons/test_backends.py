"""The backends as they are loaded: static vectors from the files of a package, with WordNet or without."""

from pathlib import Path

import numpy as np
import pytest

from lexicons.test_moby import small_moby
from lexicons.test_wordnet_lookup import small_wordnet
from tidings.lexicons.backends import Backend, load_knowledge
from tidings.lexicons.errors import IndexUnusable, MobyMissing, WordNetMissing
from tidings.lexicons.static_vectors import load_static_vectors, load_tokenizer, whole_words
from tidings.matching.language.notation import read_event, read_subscription
from tidings.matching.language.values import Event, EventTuple
from tidings.matching.matcher.index import SubscriptionIndex
from tidings.matching.matcher.matcher import Matcher
from tidings.matching.matcher.scores import Knowledge


@pytest.fixture(scope="module")
def vectors() -> Knowledge:
    return load_knowledge(Backend.VECTORS)


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    return known(Backend.MINILM, tmp_path_factory.mktemp("wordnet"))


@pytest.fixture(scope="module")
def static(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    return known(Backend.STATIC, tmp_path_factory.mktemp("wordnet"))


def known(backend: Backend, folder: Path) -> Knowledge:
    """With small lexicons of its own."""
    return load_knowledge(backend, wordnet=small_wordnet(folder), moby=small_moby(folder))


def related(knowledge: Knowledge, left: str, right: str) -> float:
    return float(knowledge.relatedness.relate([left], [right])[0, 0])


def test_vectors_tell_synonyms_from_strangers(vectors: Knowledge) -> None:
    assert vectors.relatedness.name == "vectors"
    for left, right, stranger in [("speed", "velocity", "potato"), ("price", "cost", "rain"), ("ill", "sick", "paper")]:
        assert related(vectors, left, right) > 2 * related(vectors, left, stranger)


def test_words_that_are_one_piece_are_never_split() -> None:
    tokenizer = load_tokenizer()
    whole = whole_words(tokenizer)
    assert len(whole) > 5_000
    assert all(tokenizer.encode(word, add_special_tokens=False).ids == [number] for word, number in whole.items())


def test_vectors_that_were_forgotten_are_found_again() -> None:
    few, many = load_static_vectors(kept=2), load_static_vectors()
    for items in (["parking garage", "zz"], ["street", "🅿"], ["zz", "congestion", "traffic"], ["parking garage"], [""]):
        assert np.array_equal(few.vectors(items), many.vectors(items))
    assert few.vector("") is None
    found = few.vector("congestion")
    assert found is not None
    assert float(found @ found) == pytest.approx(1)


def test_sarahs_car_finds_the_vacancy(vectors: Knowledge) -> None:
    sarah = Matcher(read_subscription("{empty parking slot~ > 0}"), vectors)
    assert sarah.match(read_event("{parking vacancy = 3}")) is not None
    assert sarah.match(read_event("{parking vacancy = 0}")) is None
    assert sarah.match(read_event("{vehicles = 210}")) is None


def test_wordnet_adds_synonyms_and_opposites(static: Knowledge, vectors: Knowledge) -> None:
    assert static.relatedness.name == "static"
    assert related(static, "car", "motor vehicle") > related(vectors, "car", "motor vehicle")
    assert static.opposites.opposites("vacant") >= {"occupied", "taken"}


def test_lists_of_synonyms_add_synonyms(static: Knowledge, tmp_path: Path) -> None:
    listed = "car,occupied\noccupied,car\nvacant,car\n"
    strange = load_knowledge(Backend.STATIC, wordnet=small_wordnet(tmp_path), moby=small_moby(tmp_path, listed))
    assert related(strange, "car", "occupied") > 3 * related(static, "car", "occupied")
    assert related(strange, "cars", "vacant") > 3 * related(static, "cars", "vacant")
    assert related(strange, "vehicle", "vacant") == related(static, "vehicle", "vacant")


def test_a_sentence_transformer_knows_what_is_described(minilm: Knowledge, static: Knowledge) -> None:
    assert minilm.relatedness.name == "minilm"
    assert minilm.relatedness.calibration == static.relatedness.calibration
    for word, description in [("ventilator", "breathing machine"), ("vaccine", "protective injection")]:
        assert related(minilm, word, description) > minilm.relatedness.calibration.threshold
        assert related(static, word, description) < static.relatedness.calibration.floor
        assert related(minilm, word, description) > 2 * related(minilm, "potato", description)
    for left, right in [("speed", "velocity"), ("price", "rain"), ("car", "auto")]:
        assert related(minilm, left, right) == related(static, left, right)


def test_a_folder_that_was_named_has_to_have_wordnet(tmp_path: Path) -> None:
    with pytest.raises(WordNetMissing):
        load_knowledge(Backend.STATIC, wordnet=tmp_path)
    with pytest.raises(MobyMissing):
        load_knowledge(Backend.STATIC, wordnet=small_wordnet(tmp_path), moby=tmp_path / "words.txt")


def test_esa_needs_an_index() -> None:
    with pytest.raises(IndexUnusable):
        load_knowledge(Backend.ESA)


@pytest.mark.parametrize(
    "text", ["", "   ", "🚗🅿️", "停车场 空位", "Παρκινγκ", "موقف سيارات", "\u0000\u200b", "x" * 900, "~" * 50]
)
def test_any_text_is_matched_with_itself_and_with_nothing_strange(
    vectors: Knowledge, minilm: Knowledge, text: str
) -> None:
    for knowledge in (vectors, minilm):
        index: SubscriptionIndex[str] = SubscriptionIndex(knowledge)
        index.add("same", read_subscription('{"a" = "' + text + '"~}'))
        index.add("other", read_subscription("{a = parking~}"))
        index.add("described", read_subscription("{a = place for cars~}"))
        found = index.match(Event((EventTuple("a", text),)))
        assert [(key, match.degree) for key, match in found] == [("same", 1.0)]


@pytest.mark.parametrize("backend", ["vectors", "static", "minilm"])
def test_the_index_agrees_with_each_matcher_to_the_last_bit(backend: str, request: pytest.FixtureRequest) -> None:
    knowledge: Knowledge = request.getfixturevalue(backend)
    texts = ["{type~ = parking vacant event~, city~ = galway~}", "{status~ = free~}", "{kind~ = traffic jam~, n~ > 3}"]
    texts += ["{vehicle~ = heavy goods vehicle~}", "{device~ = breathing machine~, type~ = parking vacant event~}"]
    events = ["{kind = car park empty incident, town = galway}", "{state = available, number = 4, type = congestion}"]
    events += ["{vehicle = truck, device = ventilator, kind = parking space not occupied}"]
    index: SubscriptionIndex[str] = SubscriptionIndex(knowledge)
    for text in texts:
        index.add(text, read_subscription(text))
    for event in map(read_event, events):
        alone = [(text, match) for text in texts if (match := Matcher(read_subscription(text), knowledge).match(event))]
        assert index.match(event) == alone
