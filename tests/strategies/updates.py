"""Update requests as texts: every operation, with blank nodes, several graphs, SILENT, `;` and several prologues."""

import re

from hypothesis import strategies as st

from strategies.data import BLANKS, EX, GRAPHS, LITERALS, PREDICATES, RESOURCES
from strategies.queries import Draw, chance, group, pick

ODD_LITERALS = (
    '"\\t\\"\\\\\\u00e9"',
    "'''it's'''",
    '"""a "quoted" text"""',
    '"2024-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
    '"nonsense"^^<http://www.w3.org/2001/XMLSchema#integer>',
    f'"x"^^<{EX}type>',
    '"colour"@en-gb',
    "-7",
    "1.5",
    "true",
)
"""Written so that pyoxigraph keeps their lexical forms."""
_TARGETS = ("DEFAULT", "NAMED", "ALL", *(f"GRAPH {name}" for name in GRAPHS))
_PLACES = ("DEFAULT", *GRAPHS, *(f"GRAPH {name}" for name in GRAPHS))


def _triples(draw: Draw, subjects: tuple[str, ...], verbs: tuple[str, ...], objects: tuple[str, ...]) -> str:
    lines = [
        f"{pick(draw, subjects)} {pick(draw, verbs)} {pick(draw, objects)} . " for _ in range(draw(st.integers(1, 3)))
    ]
    return "".join(lines)


def quads(draw: Draw, subjects: tuple[str, ...], objects: tuple[str, ...], *, variables: bool = False) -> str:
    """Triples, some of them inside GRAPH, between braces."""
    verbs = (*PREDICATES, "?y") if variables else PREDICATES
    names = (*GRAPHS, "?g") if variables else GRAPHS
    parts = []
    for _ in range(draw(st.integers(1, 2))):
        triples = _triples(draw, subjects, verbs, objects)
        parts.append(f"GRAPH {pick(draw, names)} {{ {triples}}} " if chance(draw, 2) else triples)
    return "{ " + "".join(parts) + "}"


def insert_data(draw: Draw) -> str:
    return f"INSERT DATA {quads(draw, (*RESOURCES, *BLANKS), (*RESOURCES, *BLANKS, *LITERALS, *ODD_LITERALS, '[]'))}"


def delete_data(draw: Draw) -> str:
    return f"DELETE DATA {quads(draw, RESOURCES, (*RESOURCES, *LITERALS, *ODD_LITERALS))}"


def delete_where(draw: Draw) -> str:
    subjects, objects = (*RESOURCES, "?x", "?y"), (*RESOURCES, *LITERALS, "?x", "?z")
    return f"DELETE WHERE {quads(draw, subjects, objects, variables=True)}"


def modify(draw: Draw) -> str:
    subjects = (*RESOURCES, "?x", "?x", "?y")
    objects = (*RESOURCES, *LITERALS, "?x", "?y", "?z")
    delete = f"DELETE {quads(draw, subjects, objects, variables=True)} " if chance(draw, 2) else ""
    insert = f"INSERT {quads(draw, (*subjects, '_:n'), (*objects, '_:n', '[]'), variables=True)} "
    if delete and chance(draw, 2):
        insert = ""
    home = f"WITH {pick(draw, GRAPHS)} " if chance(draw, 3) else ""
    using = ""
    if chance(draw, 4):
        choices = [*GRAPHS, *(f"NAMED {name}" for name in GRAPHS)]
        sources = draw(st.lists(st.sampled_from(choices), min_size=1, max_size=2))
        using = "".join(f"USING {source} " for source in sources)
    return f"{home}{delete}{insert}{using}WHERE {group(draw, 1, set())}"


def manage(draw: Draw) -> str:
    """CLEAR, DROP, CREATE, COPY, MOVE, ADD."""
    silent = pick(draw, ("SILENT ", ""))
    match pick(draw, ("CLEAR", "DROP", "CREATE", "COPY", "MOVE", "ADD")):
        case "CREATE":
            return f"CREATE {silent}GRAPH {pick(draw, GRAPHS)}"
        case ("CLEAR" | "DROP") as word:
            return f"{word} {silent}{pick(draw, _TARGETS)}"
        case word:
            return f"{word} {silent}{pick(draw, _PLACES)} TO {pick(draw, _PLACES)}"


def operation(draw: Draw) -> str:
    kinds = (insert_data, insert_data, delete_data, delete_where, modify, modify, manage)
    return draw(st.sampled_from(kinds))(draw)


@st.composite
def operations(draw: Draw) -> str:
    return operation(draw)


requests = st.lists(operations(), min_size=1, max_size=3)
"""The operations of one request."""


def request(texts: list[str]) -> str:
    """Operations as one text, each with a prologue of its own; none may use the blank node labels of another (19.6)."""
    parts = [re.sub(r"_:(\w)", rf"_:\g<1>{number}", text) for number, text in enumerate(texts)]
    return " ;\n".join(f"PREFIX p{number}: <{EX}> {text}" for number, text in enumerate(parts))
