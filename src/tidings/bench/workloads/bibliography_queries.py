"""Queries of the kinds of SP2Bench, one for each of its 17, for this bibliography.

Q4 and the two joins by FILTER (Q5a, Q12a) grow with the square of the data, Q6 and Q7 negate by OPTIONAL and !BOUND:
they are meant to be hard, as in the original.
"""

from tidings.bench.workloads.bibliography import NS, RDFS
from tidings.model.terms import RDF

PREFIX = f"PREFIX ns: <{NS}>\nPREFIX rdf: <{RDF}>\nPREFIX rdfs: <{RDFS}>\n"

_WRITES_BOTH_BY_NAME = (
    "?article a ns:Article ; ns:creator ?person . ?paper a ns:Inproceedings ; ns:creator ?other .\n"
    "  ?person ns:name ?name . ?other ns:name ?same . FILTER(?name = ?same)"
)
_ERDOES_NUMBER = (
    '?erdoes a ns:Person ; ns:name "Paul Erdoes" .\n'
    "  { ?document ns:creator ?erdoes , ?author . ?document2 ns:creator ?author . ?document2 ns:creator ?author2 .\n"
    "    ?author2 ns:name ?name .\n"
    "    FILTER(?author != ?erdoes && ?document2 != ?document && ?author2 != ?erdoes && ?author2 != ?author) }\n"
    "  UNION { ?document ns:creator ?erdoes , ?author . ?author ns:name ?name . FILTER(?author != ?erdoes) }"
)


def _has(attribute: str) -> str:
    return f"SELECT ?article WHERE {{ ?article a ns:Article ; ?property ?value . FILTER(?property = ns:{attribute}) }}"


QUERIES = {
    name: PREFIX + text
    for name, text in {
        # A lookup with one answer, at any size.
        "Q1": 'SELECT ?year WHERE { ?journal a ns:Journal ; ns:title "Journal 1 (1940)" ; ns:issued ?year }',
        # A wide star with an OPTIONAL, in order.
        "Q2": (
            "SELECT ?paper ?author ?booktitle ?title ?proceedings ?see ?pages ?url ?year ?abstract WHERE {\n"
            "  ?paper a ns:Inproceedings ; ns:creator ?author ; ns:booktitle ?booktitle ; ns:title ?title ;\n"
            "    ns:partOf ?proceedings ; ns:seeAlso ?see ; ns:pages ?pages ; ns:homepage ?url ; ns:issued ?year .\n"
            "  OPTIONAL { ?paper ns:abstract ?abstract } } ORDER BY ?year"
        ),
        # A FILTER on the property: nearly all articles, a few, none.
        "Q3a": _has("pages"),
        "Q3b": _has("month"),
        "Q3c": _has("isbn"),
        # A long chain: pairs of authors in one journal.
        "Q4": (
            "SELECT DISTINCT ?name1 ?name2 WHERE {\n"
            "  ?article1 a ns:Article ; ns:creator ?author1 ; ns:journal ?journal . ?author1 ns:name ?name1 .\n"
            "  ?article2 a ns:Article ; ns:creator ?author2 ; ns:journal ?journal . ?author2 ns:name ?name2 .\n"
            "  FILTER(?name1 < ?name2) }"
        ),
        # Who writes articles and papers alike: joined by a FILTER, and by a variable.
        "Q5a": f"SELECT DISTINCT ?person ?name WHERE {{\n  {_WRITES_BOTH_BY_NAME} }}",
        "Q5b": (
            "SELECT DISTINCT ?person ?name WHERE {\n"
            "  ?article a ns:Article ; ns:creator ?person . ?paper a ns:Inproceedings ; ns:creator ?person .\n"
            "  ?person ns:name ?name }"
        ),
        # Negation: documents by authors who had published nothing in the years before.
        "Q6": (
            "SELECT ?year ?name ?document WHERE {\n"
            "  ?kind rdfs:subClassOf ns:Document . ?document a ?kind ; ns:issued ?year ; ns:creator ?author .\n"
            "  ?author ns:name ?name .\n"
            "  OPTIONAL { ?kind2 rdfs:subClassOf ns:Document . ?document2 a ?kind2 ; ns:issued ?year2 ;\n"
            "    ns:creator ?author2 . FILTER(?author = ?author2 && ?year2 < ?year) }\n"
            "  FILTER(!BOUND(?author2)) }"
        ),
        # Negation twice: documents that are cited, and only by documents that are cited, too.
        "Q7": (
            "SELECT DISTINCT ?title WHERE {\n"
            "  ?document ns:title ?title . ?bag2 ?member2 ?document . ?document2 ns:references ?bag2 .\n"
            "  OPTIONAL { ?bag3 ?member3 ?document . ?document3 ns:references ?bag3 .\n"
            "    OPTIONAL { ?bag4 ?member4 ?document3 . ?document4 ns:references ?bag4 }\n"
            "    FILTER(!BOUND(?document4)) }\n"
            "  FILTER(!BOUND(?document3)) }"
        ),
        # UNION: authors with Erdoes number 1 or 2.
        "Q8": f"SELECT DISTINCT ?name WHERE {{\n  {_ERDOES_NUMBER} }}",
        # What leads to persons and from them.
        "Q9": (
            "SELECT DISTINCT ?predicate WHERE {\n"
            "  { ?person a ns:Person . ?subject ?predicate ?person }\n"
            "  UNION { ?person a ns:Person . ?person ?predicate ?object } }"
        ),
        # All that leads to one.
        "Q10": "SELECT ?subject ?predicate WHERE { ?subject ?predicate ns:Paul_Erdoes }",
        # A page of an ordered answer.
        "Q11": "SELECT ?see WHERE { ?document ns:seeAlso ?see } ORDER BY ?see LIMIT 10 OFFSET 50",
        # Whether Q5a and Q8 have answers, and whether there is somebody who is not.
        "Q12a": f"ASK {{\n  {_WRITES_BOTH_BY_NAME} }}",
        "Q12b": f"ASK {{\n  {_ERDOES_NUMBER} }}",
        "Q12c": "ASK { ns:John_Q_Public a ns:Person }",
    }.items()
}
