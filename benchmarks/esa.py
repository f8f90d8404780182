"""Building the ESA index on Spark, on two cores, from a generated dump of a wiki, compared with scikit-learn.

Prints one JSON line. `pages_per_s` is for the whole build, from the dump to the finished arrays, measured warm, after a
small dump. `ratio_to_sklearn` is the time of scikit-learn divided by ours: it reads the same dump with the same parser
and the same terms, counts them (CountVectorizer), and computes weights and prunes terms in numpy, on the one core that
it uses. `relate_cold_ms` is the time to relate a new phrase, `relate_warm_us` that for a cached one. The vectors of
terms are compared first.

    python benchmarks/esa.py [PAGES]
"""

import math
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
from pyspark.sql import SparkSession
from sklearn.feature_extraction.text import CountVectorizer  # type: ignore[import-untyped]

from measure import check, per_call, report, rounded, say
from tidings.lexicons.esa.folder import open_index
from tidings.matching.esa.formulas import Vector, pruned
from tidings.matching.esa.index import Index
from tidings.matching.esa.related import EsaRelatedness
from tidings.matching.esa.terms import counted
from tidings.spark.esa.build import Build, Parameters
from tidings.spark.esa.dump import pieces
from tidings.spark.esa.pages import Page, pages
from tidings.spark.esa.sources import Wiki
from tidings.spark.esa.wikitext import spoken
from tidings.spark.session import session

PAGES = 20_000
WARM = 2_000
_WORDS = 60_000
_HOW = Parameters(shortest=20, rarest=3, commonest=0.25)
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


def vocabulary() -> list[str]:
    chance = random.Random(1)
    return ["".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) for _ in range(_WORDS)]


def made_up(number: int) -> Iterator[str]:
    """Realistic pages: most are short, some long; words by Zipf's law, around a theme; links, templates, references."""
    chance = random.Random(2)
    words = vocabulary()
    weights = list(np.cumsum(1.0 / np.arange(10, _WORDS + 10)))
    yield "<mediawiki>\n"
    for page in range(1, number + 1):
        theme = chance.sample(words, 30)
        length = min(6_000, int(chance.lognormvariate(5.7, 0.8)))
        body = chance.choices(words, cum_weights=weights, k=length)
        body[::4] = chance.choices(theme, k=len(body[::4]))
        for place in range(0, length, 23):
            body[place] = f"[[{body[place]} {body[place - 1]}|{body[place]}]]"
        for place in range(11, length, 61):
            body[place] += "<ref>{{cite book|title=" + " ".join(theme[:5]) + "}}</ref>."
        text = "{{Infobox|" + "|".join(f"{word} = {word}" for word in theme[:8]) + "}}\n" + " ".join(body)
        yield (
            f"<page><title>{theme[0]} {page}</title><ns>0</ns><id>{page}</id><revision><id>{page}</id>"
            f'<text xml:space="preserve">{escape(text)}</text></revision></page>\n'
        )
        if page % 3 == 0:
            yield f'<page><title>R{page}</title><ns>0</ns><id>{number + page}</id><redirect title="x"/></page>\n'
    yield "</mediawiki>\n"


def written(folder: Path, number: int) -> Path:
    path = folder / f"{number}.xml"
    with path.open("w") as file:
        file.writelines(made_up(number))
    return path


def build(spark: SparkSession, path: Path, out: Path) -> tuple[Index, float]:
    start = time.perf_counter()
    Build(spark, Wiki([path]), out, _HOW).run()
    return open_index(out), time.perf_counter() - start


def theirs(path: Path) -> tuple[dict[str, Vector], float]:
    """The same index with scikit-learn and numpy: for each term, a vector over the pages in order."""
    start = time.perf_counter()
    texts = (spoken(page.wikitext) for piece in pieces(path) for page in pages(piece) if isinstance(page, Page))
    kept = (terms for text in texts if len(terms := counted(text)) >= _HOW.shortest)
    vectorizer = CountVectorizer(analyzer=lambda terms: [term for term, n in terms.items() for _ in range(n)])
    table = vectorizer.fit_transform(kept).astype(np.float64)
    documents = table.shape[0]
    frequency = np.bincount(table.indices, minlength=table.shape[1])
    known = (frequency >= _HOW.rarest) & (frequency <= _HOW.commonest * documents)
    table = table[:, known]
    table.data = (1 + np.log(table.data)) * np.log(documents / frequency[known])[table.indices]
    lengths = np.sqrt(table.multiply(table).sum(axis=1)).A1
    table = table.multiply(1 / lengths[:, None]).tocsc()
    names = vectorizer.get_feature_names_out()[known]
    found = {}
    for place, name in enumerate(names):
        part = slice(table.indptr[place], table.indptr[place + 1])
        order = np.argsort(table.indices[part])
        found[name] = pruned(
            table.indices[part][order].astype(np.int32), table.data[part][order].astype(np.float32), _HOW.most, 0.0
        )
    return found, time.perf_counter() - start


def compare(index: Index, vectors: dict[str, Vector]) -> None:
    check(len(index.terms) == len(vectors), "the same number of terms")
    for name in random.Random(3).sample(sorted(vectors), min(500, len(vectors))):
        _, ours = index.word(name)
        shared = np.intersect1d(ours.concepts, vectors[name].concepts, return_indices=True)
        check(len(shared[0]) >= 0.99 * len(ours.concepts), f"{name}: the same concepts")  # equal weights may be cut
        gap = np.abs(ours.weights[shared[1]] - vectors[name].weights[shared[2]]).max()
        check(gap < 1e-3, f"{name}: the same weights")


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else PAGES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        say(f"making up {number:,} pages")
        warm, whole = written(folder, WARM), written(folder, number)
        spark = session("local[2]", partitions=4, memory="3g")
        say("warming up")
        build(spark, warm, folder / "warm")
        index, ours = build(spark, whole, folder / "esa")
        spark.stop()
        say(f"ours: {number / ours:,.0f} pages/s; scikit-learn …")
        vectors, other = theirs(whole)
        compare(index, vectors)
        names = sorted(vectors)
        phrases = [" ".join(random.Random(seed).sample(names, 3)) for seed in range(400)]
        esa = EsaRelatedness(index)
        cold = per_call(lambda phrase: esa.relate([phrase], ["vehicle"]), phrases)
        warm_call = per_call(lambda phrase: esa.relate([phrase], ["vehicle"]), phrases)
        report(
            pages=number,
            megabytes=rounded(whole.stat().st_size / 1e6, 1),
            pages_per_s=rounded(number / ours, 0),
            sklearn_pages_per_s=rounded(number / other, 0),
            ratio_to_sklearn=rounded(other / ours),
            terms=len(index.terms),
            postings=len(index.concepts),
            relate_cold_ms=rounded(1000 * cold),
            relate_warm_us=rounded(1e6 * warm_call, 1),
            mean_words=rounded(math.exp(5.7 + 0.32), 0),
        )


if __name__ == "__main__":
    main()
