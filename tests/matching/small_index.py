"""An ESA index of a few documents, in memory, made by the formulas one after the other."""

import numpy as np

from tidings.matching.esa import formulas
from tidings.matching.esa.index import Index, Texts
from tidings.matching.esa.terms import counted


def indexed(documents: list[str], most: int = 1000, least: float = 0.0) -> Index:
    counts = [counted(text) for text in documents]
    vocabulary = sorted({term for each in counts for term in each}, key=str.encode)
    frequency = np.array([sum(term in each for each in counts) for term in vocabulary])
    idf = formulas.idf(len(documents), frequency)
    place = {term: number for number, term in enumerate(vocabulary)}
    found: list[list[tuple[int, float]]] = [[] for _ in vocabulary]
    for concept, each in enumerate(counts):
        rows = [place[term] for term in each]
        weights = formulas.normal(formulas.tf(np.array([*each.values()])) * idf[rows])
        for row, weight in zip(rows, weights, strict=True):
            found[row].append((concept, float(weight)))
    vectors = [
        formulas.pruned(np.array([c for c, _ in row], np.int32), np.array([w for _, w in row]), most, least)
        for row in found
    ]
    return Index(
        terms=texts(vocabulary),
        idf=idf.astype(np.float32),
        starts=np.cumsum([0, *(vector.concepts.size for vector in vectors)]),
        concepts=np.concatenate([vector.concepts for vector in vectors]),
        weights=np.concatenate([vector.weights for vector in vectors]),
        titles=texts([f"document {number}" for number in range(len(documents))]),
    )


def texts(values: list[str]) -> Texts:
    encoded = [each.encode() for each in values]
    return Texts(np.frombuffer(b"".join(encoded), np.uint8), np.cumsum([len(each) for each in encoded], dtype=np.int64))
