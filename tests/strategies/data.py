"""Few terms, so that patterns join: resources, predicates, graphs, literals and blank nodes in small datasets.

The names of graphs are subjects and objects, too: a variable may stand for a graph and within it.
Literals are written as pyoxigraph writes them, which rewrites all others; ours keeps what it is given.
"""

from hypothesis import strategies as st

from tidings.model.terms import XSD, Quad, Term

EX = "http://example.org/"
PREFIX = f"PREFIX : <{EX}>\n"


def ex(name: str) -> Term:
    return f"<{EX}{name}>"


RESOURCES = tuple(map(ex, "abc"))
PREDICATES = tuple(map(ex, "pqr"))
GRAPHS = tuple(map(ex, "gh"))
BLANKS = ("_:x", "_:y")
NUMBERS = tuple(f'"{text}"^^<{XSD}{name}>' for text, name in (("1", "integer"), ("2", "integer"), ("1.5", "decimal")))
LITERALS = (*NUMBERS, '"s"', '"1"', '"s"@en', f'"true"^^<{XSD}boolean>')

subjects = st.sampled_from((*RESOURCES, *RESOURCES, *GRAPHS)) | st.sampled_from(BLANKS)
predicates = st.sampled_from(PREDICATES)
objects = st.one_of(
    st.sampled_from(RESOURCES),
    st.sampled_from((*RESOURCES, *GRAPHS)),
    st.sampled_from(LITERALS),
    st.sampled_from(BLANKS),
)
graphs = st.sampled_from(("", "", *GRAPHS))
quads: st.SearchStrategy[Quad] = st.tuples(subjects, predicates, objects, graphs)
datasets = st.lists(quads, min_size=4, max_size=16)
