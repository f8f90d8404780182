"""Topics, the nearest of them, and clusters: what they keep and what they lose."""

from pathlib import Path

import msgspec
import pytest

from lexicons.test_esa_folder import INDEX
from tidings.lexicons.taxonomies import read_taxonomy
from tidings.matching.esa.related import EsaRelatedness
from tidings.matching.language.notation import read_event, read_subscription
from tidings.matching.taxonomy.classification import Classifier
from tidings.matching.taxonomy.clusters import Clustering, Clusters, Kept, meet
from tidings.matching.taxonomy.errors import TaxonomyUnreadable
from tidings.matching.taxonomy.topics import Topic, taxonomy

TURTLE = """
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
<urn:transport> skos:prefLabel "transport"@en, "Verkehr"@de ; skos:narrower <urn:car> .
<urn:car> skos:prefLabel "car"@en-GB ; skos:altLabel "vehicle"@en, "Wagen"@de .
<urn:weather> skos:prefLabel "wind" .
<urn:sand> skos:prefLabel "sand"@en ; skos:broader <urn:weather> .
<urn:nur> skos:prefLabel "nur deutsch"@de .
"""
JSON = {
    "concepts": {
        "1": {"en": "transport"},
        "2": {"en": "car", "alt": ["vehicle"], "b": [1]},
        "3": {"en": "old", "ret": "2019"},
        "4": {"de": "Wind"},
        "top:5": {"en": "weather"},
        "top:6": {"en": "rain", "b": ["5"]},
    }
}
ESA = EsaRelatedness(INDEX)


def skos(folder: Path) -> Path:
    path = folder / "topics.ttl"
    path.write_text(TURTLE)
    return path


def test_a_skos_vocabulary_is_a_taxonomy(tmp_path: Path) -> None:
    found = read_taxonomy(skos(tmp_path))
    assert {topic.label: topic.broader for topic in found.topics} == {
        "transport": None, "car": "<urn:transport>", "wind": None, "sand": "<urn:weather>",
    }  # fmt: skip
    assert next(topic for topic in found.topics if topic.label == "car").alternatives == ("vehicle",)
    assert found.at("<urn:car>", 1) == "<urn:transport>"
    assert found.at("<urn:car>", 2) == found.at("<urn:car>", 9) == "<urn:car>"
    german = read_taxonomy(tmp_path / "topics.ttl", "de")
    assert {topic.label for topic in german.topics} == {"Verkehr", "wind", "nur deutsch"}


def test_so_is_json_of_concepts(tmp_path: Path) -> None:
    path = tmp_path / "topics.json"
    path.write_bytes(msgspec.json.encode(JSON))
    found = read_taxonomy(path)
    assert [topic.label for topic in found.topics] == ["transport", "car", "weather", "rain"]
    assert found.path("top:6") == ["top:5", "top:6"]
    assert found.path("2") == ["1", "2"]


def test_broader_topics_in_a_circle_end_somewhere() -> None:
    found = taxonomy("circle", [Topic("a", "a", broader="b"), Topic("b", "b", broader="a"), Topic("a", "again")])
    assert found.path("a") == ["b", "a"]
    assert len(found) == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.ttl", "nonsense"), ("a.json", "[1]"), ("a.json", "{"), ("a.json", "{}"), ("a.doc", ""), ("a.json.gz", "x")],
)
def test_what_is_no_taxonomy_is_told(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(TaxonomyUnreadable):
        read_taxonomy(tmp_path / name)
    with pytest.raises(TaxonomyUnreadable, match="cannot be read"):
        read_taxonomy(tmp_path / "nowhere.ttl")


def test_a_phrase_has_the_topic_that_is_nearest(tmp_path: Path) -> None:
    classifier = Classifier(read_taxonomy(skos(tmp_path)), ESA)
    assert classifier.topic("vehicle park") == "<urn:car>"
    assert classifier.topic("Sand") == "<urn:sand>"
    assert classifier.topic("42") is None
    assert classifier.topic("unheard") is None
    assert Classifier(read_taxonomy(None), ESA).topic("car park") == "transport/parking"
    broad = Classifier(read_taxonomy(skos(tmp_path)), ESA, level=1)
    assert broad.topics(["vehicle park", "sand", "7"]) == {"<urn:transport>", "<urn:weather>"}


def test_clusters_keep_pairs_that_share_a_topic(tmp_path: Path) -> None:
    classifier = Classifier(read_taxonomy(skos(tmp_path)), ESA)
    events = [read_event(text) for text in ("{car = sand}", "{car = vehicle park}", "{unheard = 7}")]
    subscriptions = [read_subscription(text) for text in ("{vehicle~ = car~}", "{wind~ = sand~}")]
    matches = {(0, 0), (1, 0), (2, 1)}
    values = Clusters(classifier).report(events, subscriptions, matches)
    assert values == Kept(pairs=6, kept=4, matches=3, matches_kept=2)
    assert values.share == values.recall == pytest.approx(2 / 3)
    everything = Clusters(classifier, Clustering.EVERYTHING).report(events, subscriptions, matches)
    assert everything == Kept(pairs=6, kept=5, matches=3, matches_kept=3)
    assert (Kept().share, Kept().recall) == (1.0, 1.0)


def test_what_has_no_topic_is_never_ruled_out() -> None:
    assert meet(frozenset(), frozenset("a"))
    assert meet(frozenset("a"), frozenset())
    assert not meet(frozenset("a"), frozenset("b"))
