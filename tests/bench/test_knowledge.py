"""A knowledge base goes into a target batch by batch, whatever its files are written in, and says what went wrong."""

import asyncio
import gzip
from collections.abc import Callable, Iterable
from pathlib import Path

import pyoxigraph as ox
import pytest

from tidings.bench.targets import Description, Listening, Offers
from tidings.bench.workloads import bibliography, city, universities
from tidings.bench.workloads.knowledge import KnowledgeFailed, Loaded, batches, checksum, load
from tidings.bench.workloads.sources import source_of
from tidings.model.errors import LimitExceeded
from tidings.model.formats.rdf import RdfFormat, serialize_rdf
from tidings.model.terms import Triple

FORMATS = {
    "nt": RdfFormat.N_TRIPLES,
    "ttl": RdfFormat.TURTLE,
    "n3": RdfFormat.TURTLE,
    "rdf": RdfFormat.RDF_XML,
    "owl": RdfFormat.RDF_XML,
    "jsonld": RdfFormat.JSON_LD,
}
CITY = list(city.city(0.01))


class Shelf:
    """A target that takes triples and nothing else, until it has had enough."""

    def __init__(self, room: int = 10**9) -> None:
        self.room = room
        self.requests: list[list[Triple]] = []
        self.offers = Offers()
        self.description = Description("shelf", "shelf", "")

    @property
    def triples(self) -> list[Triple]:
        return [triple for request in self.requests for triple in request]

    async def insert(self, triples: Iterable[Triple]) -> None:
        new = list(triples)
        if len(self.triples) + len(new) > self.room:
            raise LimitExceeded("the shelf is full")
        self.requests.append(new)

    async def open(self) -> None: ...
    async def close(self) -> None: ...
    async def clear(self) -> None: ...
    async def update(self, text: str) -> None: ...
    async def query(self, text: str) -> list[tuple[str | None, ...]]:
        raise NotImplementedError

    async def subscribe(self, text: str) -> Listening:
        raise NotImplementedError

    async def components(self) -> dict[str, float]:
        return {}

    async def memory(self) -> int | None:
        return None


def loaded(shelf: Shelf, *sources: str | Path, batch: int = 1000, seed: int = city.SEED) -> Loaded:
    return asyncio.run(load(shelf, [str(source) for source in sources], batch=batch, seed=seed))


def written(path: Path, triples: Iterable[Triple]) -> Path:
    ending = path.name.removesuffix(".gz").rpartition(".")[2]
    data = b"".join(serialize_rdf(triples, FORMATS[ending], {"ns": city.NS}))
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("ending", [*FORMATS, *(f"{ending}.gz" for ending in FORMATS)])
def test_every_format_loads_the_same_graph(tmp_path: Path, ending: str) -> None:
    shelf = Shelf()
    result = loaded(shelf, written(tmp_path / f"city.{ending}", CITY))
    assert set(shelf.triples) == set(CITY)
    assert result.triples == len(CITY)
    assert result.checksum == checksum(["city:0.01"])


def test_gzip_is_known_by_its_first_bytes_whatever_the_name(tmp_path: Path) -> None:
    path = tmp_path / "city.nt"
    path.write_bytes(written(tmp_path / "city.nt.gz", CITY).read_bytes())
    shelf = Shelf()
    loaded(shelf, path)
    assert shelf.triples == CITY


@pytest.mark.parametrize(
    ("source", "triples"),
    [
        ("city:0.01", lambda seed: city.city(0.01, seed)),
        ("universities:0.05", lambda seed: universities.universities(0.05, seed)),
    ],
)
def test_a_generator_is_loaded_by_its_name_and_size(source: str, triples: Callable[[int], Iterable[Triple]]) -> None:
    for seed in (1, 2):
        shelf = Shelf()
        loaded(shelf, source, seed=seed)
        assert shelf.triples == list(triples(seed))


@pytest.mark.parametrize("batch", [1, 7, 100, 100_000])
def test_triples_come_n_at_a_time(batch: int) -> None:
    shelf = Shelf()
    result = loaded(shelf, "bibliography:150", batch=batch)
    assert {len(request) for request in shelf.requests[:-1]} <= {batch}
    assert 0 < len(shelf.requests[-1]) <= batch
    assert result.requests == len(shelf.requests) == -(-result.triples // batch)


def test_a_batch_is_of_one_source(tmp_path: Path) -> None:
    shelf = Shelf()
    loaded(shelf, written(tmp_path / "a.nt", CITY[:150]), written(tmp_path / "b.ttl", CITY[150:300]), batch=100)
    assert [len(request) for request in shelf.requests] == [100, 50, 100, 50]
    assert set(shelf.triples) == set(CITY[:300])


def test_steps_of_loading_are_told_one_by_one() -> None:
    async def steps() -> list[tuple[int, int]]:
        shelf = Shelf()
        return [(size, len(shelf.triples)) async for size in batches(shelf, ["bibliography:250"], 100, 1)]

    sizes = asyncio.run(steps())
    assert [size for size, _ in sizes[:2]] == [100, 100]
    assert [held for _, held in sizes[:2]] == [100, 200]


def test_a_blank_node_is_one_node_in_all_the_batches() -> None:
    shelf = Shelf()
    loaded(shelf, "bibliography:3000", batch=10)
    assert not [term for triple in shelf.triples for term in triple if term.startswith("_:")]
    original = list(bibliography.bibliography(3000, city.SEED))
    named: dict[str, str] = {}
    for old, new in zip(original, shelf.triples, strict=True):
        for before, after in zip(old, new, strict=True):
            assert named.setdefault(before, after) == after
    assert len(set(named.values())) == len(named)
    assert {after[:19] for before, after in named.items() if before.startswith("_:")} == {"<urn:tidings:blank:"}


@pytest.mark.parametrize(
    ("ending", "document"),
    [
        ("ttl", "@prefix : <http://e/> . :a :b [ :c [ :d 1 ], [] ; :e _:x ] . _:x :f ( 1 2 ) ."),
        ("n3", "@prefix : <http://e/> . :a :b [ :c [ :d 1 ], [] ; :e _:x ] . _:x :f ( 1 2 ) ."),
        (
            "rdf",
            '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/"><rdf:Description>'
            '<e:b rdf:parseType="Resource"><e:c rdf:nodeID="x"/></e:b></rdf:Description>'
            '<rdf:Description rdf:nodeID="x"><e:d>1</e:d></rdf:Description></rdf:RDF>',
        ),
    ],
)
def test_nodes_without_a_label_have_the_same_names_in_every_run(tmp_path: Path, ending: str, document: str) -> None:
    path = tmp_path / f"nodes.{ending}"
    path.write_text(document)
    first, second = Shelf(), Shelf()
    loaded(first, path, batch=1)
    loaded(second, path, batch=100)
    assert first.triples == second.triples

    def graph(lines: str, format_: ox.RdfFormat) -> ox.Dataset:
        dataset = ox.Dataset(ox.parse(lines.encode(), format_))
        dataset.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
        return dataset

    as_blanks = "".join(f"{s} {p} {o} .\n" for s, p, o in first.triples).replace("<urn:tidings:blank:", "_:")
    lines = "".join(
        " ".join(t[:-1] if t.startswith("_:") else t for t in li.split(" ")) + "\n" for li in as_blanks.splitlines()
    )
    syntax = ox.RdfFormat.RDF_XML if ending == "rdf" else ox.RdfFormat.TURTLE
    assert graph(lines, ox.RdfFormat.N_TRIPLES) == graph(document, syntax)


def test_nodes_of_different_files_are_different(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text('_:x <http://e/p> "a" .\n')
    (tmp_path / "b.nt").write_text('_:x <http://e/p> "b" .\n')
    shelf = Shelf()
    loaded(shelf, tmp_path / "a.nt", tmp_path / "b.nt")
    assert len({s for s, _, _ in shelf.triples}) == 2


def test_relative_iris_do_not_depend_on_where_a_file_lies(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "data.ttl").write_text("<#a> <#b> <c> .")
    sums = {checksum([str(tmp_path / folder / "data.ttl")]) for folder in ("one", "two")}
    assert len(sums) == 1


def test_a_checksum_is_of_the_triples_and_not_of_their_order(tmp_path: Path) -> None:
    there = checksum([str(written(tmp_path / "a.nt", CITY))])
    assert checksum([str(written(tmp_path / "b.ttl", reversed(CITY)))]) == there
    halves = [str(written(tmp_path / "c.nt", CITY[:200])), str(written(tmp_path / "d.nt", CITY[200:]))]
    assert checksum(halves) == there
    assert checksum([str(written(tmp_path / "e.nt", CITY[1:]))]) != there
    assert checksum(["city:0.01"], seed=1) != checksum(["city:0.01"], seed=2)
    assert checksum(["bibliography:500"]) == checksum(["bibliography:500"])


def test_a_knowledge_base_of_nothing_is_loaded_at_once() -> None:
    result = loaded(Shelf())
    assert (result.triples, result.requests, result.checksum) == (0, 0, "0" * 32)


@pytest.mark.parametrize("ending", ["nt", "ttl", "rdf", "nt.gz"])
def test_progress_tells_what_is_in_what_is_expected_and_how_fast(tmp_path: Path, ending: str) -> None:
    many = list(city.city(0.1))
    path = written(tmp_path / f"city.{ending}", many)
    told: list[tuple[float, float, str]] = []
    asyncio.run(
        load(
            Shelf(),
            [str(path), "city:0.01"],
            batch=500,
            progress=lambda done, all_, what: told.append((done, all_, what)),
        )
    )
    whole = len(many) + len(CITY)
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert all(done <= expected for done, expected, _ in told)
    assert told[-1][:2] == (whole, whole)
    middle = told[len(told) // 2]
    assert middle[1] == pytest.approx(whole, rel=0.25)
    assert str(path) in told[0][2]
    assert "triples/s" in told[0][2]
    assert "s left" in told[0][2]


@pytest.mark.parametrize("source", ["city:0.01", "universities:0.1", "bibliography:5000"])
def test_a_generator_knows_about_how_much_it_will_make(source: str) -> None:
    generated = source_of(source)
    assert generated.expected(0) == pytest.approx(sum(1 for _ in generated.triples()), rel=0.15)


def test_a_syntax_error_names_file_and_line_and_what_is_in(tmp_path: Path) -> None:
    path = tmp_path / "broken.nt"
    path.write_text("".join(f'<http://e/{n}> <http://e/p> "{n}" .\n' for n in range(20_000)) + "nonsense\n")
    shelf = Shelf()
    with pytest.raises(KnowledgeFailed) as caught:
        loaded(shelf, "city:0.01", path, batch=1000)
    error = caught.value
    assert (error.source, error.line, error.triples) == (str(path), 20_001, len(shelf.triples))
    assert f"{path}, line 20001: " in str(error)
    assert f"({error.triples:,} triples are in)" in str(error)
    assert len(shelf.triples) > len(CITY) + 10_000


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.ttl", b"<http://e/a> <http://e/b> <http://e/c> .\n<http://e/a> nonsense .", 2),
        ("a.n3", b"@prefix : <http://e/> .\n:a :b :c .\n{ :a :b :c } => { :c :b :a } .", 3),
        ("a.rdf", b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\n<rdf:Description>\n</wrong>', 3),
        ("a.nt.gz", b"\x1f\x8bnonsense", None),
        ("a.nt", gzip.compress(b"<http://e/a> <http://e/b> <http://e/c> .\n" * 50, mtime=0)[:-12], None),
        ("a.nq", b"<http://e/a> <http://e/b> <http://e/c> <http://e/g> .\n", None),
        ("a.docx", b"", None),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, content: bytes, line: int | None) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(KnowledgeFailed) as caught:
        loaded(Shelf(), tmp_path / name)
    assert caught.value.source == str(tmp_path / name)
    assert caught.value.line == line


@pytest.mark.parametrize(
    "source",
    [
        "nowhere.nt",
        "city:",
        "city:0",
        "city:much",
        "universities:-1",
        "universities:inf",
        "bibliography:0.5",
        "bibliography:0",
    ],
)
def test_a_source_that_is_none_is_told_before_anything_is_in(source: str) -> None:
    shelf = Shelf()
    with pytest.raises(KnowledgeFailed) as caught:
        loaded(shelf, "city:0.01", source)
    assert caught.value.source == source
    assert shelf.requests == []


def test_a_target_that_takes_no_more_says_so_with_what_is_in() -> None:
    shelf = Shelf(room=2500)
    with pytest.raises(KnowledgeFailed, match=r"triples 2,001 to 3,000 were not taken: the shelf is full") as caught:
        loaded(shelf, "city:0.1", batch=1000)
    assert caught.value.triples == len(shelf.triples) == 2000


def test_an_empty_batch_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        loaded(Shelf(), "city:0.01", batch=0)
