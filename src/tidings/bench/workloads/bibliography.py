"""A bibliography after SP2Bench (Schmidt, Hornung, Lausen, Pinkel: "SP2Bench: A SPARQL Performance Benchmark", 2009).

    documents of a kind in a year = a / (1 + b · e^(−c · (year − origin)))         the growth of DBLP, as published

Written from the published analysis, over a vocabulary of our own, and simpler than the original in three ways. Authors:
an authorship is a new person's with the published probability, otherwise that of the author of an earlier authorship
drawn at random, which gives the power law of publications per author without its formula (Simon's model). Citations go
in the same way to documents that are there; none points nowhere. Attributes that no query asks for are left out.
Persons and reference lists are blank nodes, as in the original; Paul Erdoes, who has a fixed life, is an IRI. The years
follow each other, so a larger bibliography begins with the smaller one.
"""

import math
from array import array
from collections.abc import Iterator
from itertools import count
from random import Random

from tidings.model.terms import RDF, RDF_TYPE, XSD, Term, Triple, blank, iri, literal

NS = "http://tidings.example/bibliography#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
SEED = 2009
FIRST_YEAR = 1936

GROWTH = {  # a, b, c and the origin of the logistic curves
    "Journal": (740.43, 426.28, 0.12, 1950),
    "Article": (58519.12, 876.80, 0.12, 1950),
    "Proceedings": (5502.31, 1250.26, 0.14, 1965),
    "Inproceedings": (337132.34, 1901.05, 0.15, 1965),
    "Incollection": (3577.31, 196.49, 0.09, 1980),
    "Book": (52.97, 40739.38, 0.32, 1950),
}
AT_MOST = {"PhDThesis": 20, "MastersThesis": 10, "Www": 10}
"""A random number for each year, from 1980 on."""
KINDS = (*GROWTH, *AT_MOST)
VENUES = ("Journal", "Proceedings")

PROBABILITY = {
    "Journal": {},
    "Proceedings": {"editor": 0.7992, "isbn": 0.8592, "month": 0.0001, "seeAlso": 0.39, "homepage": 0.99},
    "Article": {
        "creator": 0.9895, "journal": 0.9994, "pages": 0.9261, "month": 0.0065, "seeAlso": 0.6781, "homepage": 0.9986,
        "references": 0.0048, "abstract": 0.01,
    },
    "Inproceedings": {
        "creator": 0.9970, "partOf": 1.0, "booktitle": 1.0, "pages": 0.9489, "seeAlso": 0.6419, "homepage": 1.0,
        "references": 0.0104, "abstract": 0.01,
    },
    "Incollection": {"creator": 0.8459, "booktitle": 1.0, "pages": 0.6849, "seeAlso": 0.2, "references": 0.0047},
    "Book": {
        "creator": 0.8937, "editor": 0.1040, "isbn": 0.9294, "month": 0.0008, "publisher": 0.9992, "seeAlso": 0.0079,
        "references": 0.0079,
    },
    "PhDThesis": {"creator": 1.0, "isbn": 0.0222, "publisher": 1.0},
    "MastersThesis": {"creator": 1.0, "publisher": 1.0},
    "Www": {"creator": 0.9973, "homepage": 1.0},
}  # fmt: skip
"""The probability that a document of a kind has an attribute. Of articles, inproceedings, proceedings and books,
creator, editor, isbn, month, pages, journal and references are the published ones; the others are estimates."""

CITATIONS = (16.82, 10.07)
EDITORS = (2.15, 1.18)
ABSTRACT_WORDS = (150, 30)
"""Mean and deviation of the normal distributions."""
ERDOES = f"<{NS}Paul_Erdoes>"
ERDOES_YEARS = range(1940, 1997)
ERDOES_PAPERS = 10
ERDOES_EDITIONS = 2
"""What he writes and edits in each of his years, as far as there are papers and proceedings."""


def _each(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRST_NAMES = _each("Ada Bela Chen Dora Emil Fay Goran Hana Ivo Jana Kofi Lena Milo Nura Otto Pia Rosa Sami Tove")
LAST_NAMES = _each(
    "Abel Bakker Conti Dahl Eriksen Ferri Gallo Haddad Ito Jensen Kovacs Lund Moreau Novak Okafor Petit Quist Rossi "
    "Sato Toth Ueda Vogel Weiss Xu Yilmaz Zeman Arce Brandt Costa Diaz Egger"
)
WORDS = _each(
    "adaptive algebra answer bound broker cache chain change clock code cost cube delay delta design event exact fast "
    "field filter flow form graph index join lattice learning limit logic loop matching measure memory message method "
    "model network notion number order parallel pattern plan process proof query random rate relation rule search "
    "semantic sensor set sharing space stream structure system table theory time tree trust type value view web"
)


def ns(name: str) -> Term:
    """The IRI of a name of the bibliography."""
    return f"<{NS}{name}>"


def integer(number: int) -> Term:
    return literal(str(number), f"{XSD}integer")


def bibliography(triples: int = 10_000, seed: int = SEED) -> Iterator[Triple]:
    """A bibliography of so many triples, or a few more, to complete the last document."""
    checked(triples)
    written = 0
    for document in _Library(seed).documents():
        yield from document
        written += len(document)
        if written >= triples:
            return


def checked(triples: int) -> None:
    if triples < 1:
        raise ValueError(f"a bibliography has at least 1 triple, not {triples}")


def logistic(year: int, a: float, b: float, c: float, origin: int) -> float:
    return a / (1 + b * math.exp(-c * (year - origin)))


def documents_of(kind: str, year: int) -> int:
    """The number of documents of a growing kind in a year; papers only if there are proceedings or journals."""
    if (kind == "Article" and not documents_of("Journal", year)) or (
        kind == "Inproceedings" and not documents_of("Proceedings", year)
    ):
        return 0
    return round(logistic(year, *GROWTH[kind]))


def new_author(year: int) -> float:
    """The probability that an authorship is its author's first.

    The published curve of new authors, read as a share of all authorships: so it gives the published totals.
    """
    return 0.628 - logistic(year, 0.29, 749.00, 0.14, 1937)


def authors(year: int) -> tuple[float, float]:
    """Mean and deviation of the number of authors of a document."""
    return logistic(year, 2.05, 17.59, 0.11, 1975) + 1.05, logistic(year, 1.00, 6.46, 0.10, 1975) + 0.50


def person_name(number: int) -> str:
    """The unique name of the person with this number."""
    rest, first = divmod(number, len(FIRST_NAMES))
    generation, last = divmod(rest, len(LAST_NAMES))
    name = f"{FIRST_NAMES[first]} {LAST_NAMES[last]}"
    return f"{name} {generation + 1}" if generation else name


class _Library:
    """The growing bibliography. It keeps 4 bytes for each authorship and citation, and 1 byte for each document."""

    def __init__(self, seed: int) -> None:
        self._rng = Random(f"{seed}")
        self._people = 0
        self._authorships = array("I")
        self._kinds = array("B")
        """The kind of each document that can be cited; its index is its number."""
        self._cited = array("I")
        self._venues = dict.fromkeys(VENUES, 0)
        """Those of the current year."""
        self._erdoes_papers = self._erdoes_editions = 0

    def documents(self) -> Iterator[list[Triple]]:
        """The vocabulary, then document after document, each with those of its persons that are new."""
        yield [(ns(kind), iri(f"{RDFS}subClassOf"), ns("Document")) for kind in KINDS]
        yield [(ERDOES, RDF_TYPE, ns("Person")), (ERDOES, ns("name"), literal("Paul Erdoes"))]
        for year in count(FIRST_YEAR):
            yield from self._year(year)

    def _year(self, year: int) -> Iterator[list[Triple]]:
        alive = year in ERDOES_YEARS
        self._erdoes_papers, self._erdoes_editions = ERDOES_PAPERS * alive, ERDOES_EDITIONS * alive
        self._venues = {kind: documents_of(kind, year) for kind in VENUES}
        for kind, number in self._venues.items():
            for n in range(1, number + 1):
                yield self._venue(kind, n, year)
        left = [0 if kind in VENUES else documents_of(kind, year) for kind in GROWTH]
        left += [self._rng.randint(0, most) if year >= 1980 else 0 for most in AT_MOST.values()]
        for _ in range(sum(left)):  # mixed, so that a bibliography that ends within a year has all kinds
            [drawn] = self._rng.choices(range(len(KINDS)), left)
            left[drawn] -= 1
            yield self._document(drawn, year)

    def _venue(self, kind: str, n: int, year: int) -> list[Triple]:
        name = f"{kind}_{year}_{n}"
        title = f"{'Journal' if kind == 'Journal' else 'Conference'} {n} ({year})"
        found: list[Triple] = [
            (ns(name), RDF_TYPE, ns(kind)),
            (ns(name), ns("title"), literal(title)),
            (ns(name), ns("issued"), integer(year)),
        ]
        self._attributes(found, kind, name, year)
        return found

    def _document(self, kind_number: int, year: int) -> list[Triple]:
        kind = KINDS[kind_number]
        name = f"{kind}_{len(self._kinds)}"
        found: list[Triple] = [
            (ns(name), RDF_TYPE, ns(kind)),
            (ns(name), ns("title"), literal(self._words(max(2, round(self._rng.gauss(6, 2)))).capitalize())),
            (ns(name), ns("issued"), integer(year)),
        ]
        self._attributes(found, kind, name, year)
        self._kinds.append(kind_number)
        return found

    def _attributes(self, found: list[Triple], kind: str, name: str, year: int) -> None:
        rng, term = self._rng, ns(name)
        if kind in {"Article", "Inproceedings"} and self._erdoes_papers:
            self._erdoes_papers -= 1
            found.append((term, ns("creator"), ERDOES))
        if kind == "Proceedings" and self._erdoes_editions:
            self._erdoes_editions -= 1
            found.append((term, ns("editor"), ERDOES))
        proceedings = rng.randint(1, self._venues["Proceedings"]) if kind == "Inproceedings" else 0
        for attribute, probability in PROBABILITY[kind].items():
            if rng.random() >= probability:
                continue
            match attribute:
                case "creator":
                    self._creators(found, term, year)
                case "editor":
                    self._editors(found, term)
                case "references":
                    self._references(found, term)
                case "partOf":
                    found.append((term, ns("partOf"), ns(f"Proceedings_{year}_{proceedings}")))
                case "booktitle" if proceedings:
                    found.append((term, ns("booktitle"), literal(f"Conference {proceedings} ({year})")))
                case "journal":
                    found.append((term, ns("journal"), ns(f"Journal_{year}_{rng.randint(1, self._venues['Journal'])}")))
                case _:
                    found.append((term, ns(attribute), self._value(attribute, name)))

    def _value(self, attribute: str, name: str) -> Term:
        rng = self._rng
        match attribute:
            case "pages":
                return integer(rng.randint(1, 500))
            case "month":
                return integer(rng.randint(1, 12))
            case "isbn":
                return literal(f"{rng.randrange(10)}-{rng.randrange(1000):03}-{rng.randrange(100_000):05}")
            case "abstract":
                return literal(self._words(max(1, round(rng.gauss(*ABSTRACT_WORDS)))))
            case "seeAlso":
                return iri(f"http://library.example/entry/{name}")
            case "homepage":
                return iri(f"http://papers.example/{name}")
            case _:
                return literal(self._words(2).title())

    def _creators(self, found: list[Triple], document: Term, year: int) -> None:
        rng = self._rng
        chosen: list[int] = []
        for _ in range(max(1, round(rng.gauss(*authors(year))))):
            person = self._people
            if self._authorships and rng.random() >= new_author(year):
                person = rng.choice(self._authorships)
            if person in chosen:
                continue
            if person == self._people:
                self._person(found, person)
            chosen.append(person)
            found.append((document, ns("creator"), _person(person)))
        self._authorships.extend(chosen)

    def _person(self, found: list[Triple], number: int) -> None:
        self._people += 1
        found.append((_person(number), RDF_TYPE, ns("Person")))
        found.append((_person(number), ns("name"), literal(person_name(number))))

    def _editors(self, found: list[Triple], document: Term) -> None:
        """Add editors, who are authors of earlier documents."""
        if self._authorships:
            drawn = (self._rng.choice(self._authorships) for _ in range(max(1, round(self._rng.gauss(*EDITORS)))))
            found += [(document, ns("editor"), _person(person)) for person in dict.fromkeys(drawn)]

    def _references(self, found: list[Triple], document: Term) -> None:
        """Add a bag of cited documents: half of them drawn by popularity, half of them uniformly."""
        if not self._kinds:
            return
        rng, number = self._rng, len(self._kinds)
        chosen: dict[int, None] = {}
        for _ in range(max(1, round(rng.gauss(*CITATIONS)))):
            popular = self._cited and rng.random() < 0.5
            chosen[rng.choice(self._cited) if popular else rng.randrange(number)] = None
        self._cited.extend(chosen)
        bag = blank(f"references_{number}")
        found.append((document, ns("references"), bag))
        found.append((bag, RDF_TYPE, iri(f"{RDF}Bag")))
        for n, cited in enumerate(chosen, 1):
            found.append((bag, iri(f"{RDF}_{n}"), ns(f"{KINDS[self._kinds[cited]]}_{cited}")))

    def _words(self, number: int) -> str:
        return " ".join(self._rng.choices(WORDS, k=number))


def _person(number: int) -> Term:
    return blank(person_name(number).replace(" ", "_"))
