"""Lists the classes and predicates of the graph, with their counts and an example of each, and the namespaces."""

import re
from collections import Counter
from typing import Any

from tidings.gates.mcp.sizing import PREFIXES, Short

_ANYWHERE = "{ { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }"
_TYPED = "{ { ?s a ?class } UNION { GRAPH ?g { ?s a ?class } } }"
CLASSES = f"SELECT ?class (COUNT(*) AS ?n) (SAMPLE(?s) AS ?example) {_TYPED} GROUP BY ?class ORDER BY DESC(?n) ?class"
PREDICATES = (
    f"SELECT ?p (COUNT(*) AS ?n) (SAMPLE(?s) AS ?subject) (SAMPLE(?o) AS ?object) {_ANYWHERE} "
    "GROUP BY ?p ORDER BY DESC(?n) ?p"
)
_NAMESPACE = re.compile(r"<([^>]*[/#])[^/#>]*>")


def described(classes: list[list[str]], predicates: list[list[str]], limit: int) -> dict[str, Any]:
    """`classes` and `predicates` are rows of the two queries, term by term."""
    short = Short()
    found: dict[str, Any] = {
        "classes": [
            {"class": short.term(name), "count": _count(n), "example": short.term(example)}
            for name, n, example in classes[:limit]
        ],
        "predicates": [
            {"predicate": short.term(name), "count": _count(n), "example": [short.term(s), short.term(o)]}
            for name, n, s, o in predicates[:limit]
        ],
    }
    if len(classes) > limit or len(predicates) > limit:
        found["more"] = f"there are others; ask for more than {limit}, or query for them"
    return {**found, "namespaces": _namespaces(classes, predicates), "prefixes": short.used}


def _count(term: str) -> int:
    return int(term[1:].partition('"')[0])


def _namespaces(*tables: list[list[str]]) -> list[str]:
    """Where the names come from that have no prefix here, the commonest first."""
    names = Counter(
        match[1] for table in tables for row in table if (match := _NAMESPACE.fullmatch(row[0])) is not None
    )
    known = set(PREFIXES.values())
    return [name for name, _ in names.most_common(20) if name not in known]
