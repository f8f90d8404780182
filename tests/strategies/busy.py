"""Updates and queries of a busy day, as plain random draws: for histories too long for a search strategy."""

from random import Random

from strategies.data import GRAPHS, PREDICATES, PREFIX, RESOURCES
from strategies.subscriptions import FEATURES, text_of

NAMES = (*RESOURCES, *(f"<http://example.org/n{number}>" for number in range(8)))
OBJECTS = (*NAMES, "1", "2", "1.5", '"s"', '"s"@en', '"S"@EN')
FREQUENT = (
    "SELECT * {{ {s} ?p ?o }}",
    "SELECT ?s {{ ?s {p} {s} }}",
    "SELECT * {{ {s} {p} ?o . ?o ?q ?v }}",
    "SELECT * {{ {s} {p} ?o OPTIONAL {{ ?o {q} ?v }} }}",
    "SELECT ?o (COUNT(*) AS ?n) {{ {s} ?p ?o . ?o ?q ?v }} GROUP BY ?o",
    "SELECT * {{ ?s {p} ?o FILTER (?s = {s}) }}",
    "SELECT DISTINCT ?v {{ GRAPH ?g {{ {s} {p} ?o . ?o ?q ?v }} }}",
    "SELECT * {{ {s} {p} ?o FILTER NOT EXISTS {{ ?o {q} ?v }} }}",
    "SELECT * {{ GRAPH {g} {{ ?s {p} ?o MINUS {{ ?o {q} {s} }} }} }}",
    "SELECT ?o {{ {s} {p}+ ?o }}",
    "SELECT * {{ {s} ?p ?o }} ORDER BY DESC(?o) ?p LIMIT 2",
    "ASK {{ {s} {p} {t} }}",
    "CONSTRUCT {{ ?o {q} _:b . _:b {p} {s} }} {{ {s} {p} ?o }}",
)
RARE = tuple(text_of(query) for queries in FEATURES.values() for query in queries)


def update(random: Random) -> str:
    """Mostly small changes; now and then a big one."""
    s, t, o = random.choice(NAMES), random.choice(NAMES), random.choice(OBJECTS)
    p, q, g = random.choice(PREDICATES), random.choice(PREDICATES), random.choice(GRAPHS)
    small = (
        f"INSERT DATA {{ {s} {p} {o} }}",
        f"INSERT DATA {{ {s} {p} {o}, {t} . {t} {q} {o} }}",
        f"INSERT DATA {{ GRAPH {g} {{ {s} {p} {o} . {t} {p} {s} }} }}",
        f"DELETE WHERE {{ {s} {p} ?o }}",
        f"DELETE WHERE {{ GRAPH ?g {{ {s} {p} ?o }} }}",
        f"DELETE {{ {s} {p} ?o }} INSERT {{ {s} {p} {o} }} WHERE {{ OPTIONAL {{ {s} {p} ?o }} }}",
        f"DELETE {{ ?s {p} ?o }} INSERT {{ ?s {q} ?o }} WHERE {{ ?s {p} ?o FILTER (?s IN ({s}, {t})) }}",
        f"WITH {g} DELETE {{ ?s ?p ?o }} INSERT {{ ?o ?p ?s }} WHERE {{ ?s ?p ?o FILTER (isIRI(?o) && ?s = {s}) }}",
        f"INSERT {{ {s} {p} [ {q} ?o ] }} WHERE {{ {t} {p} ?o FILTER (isIRI(?o)) }}",
        "DELETE { ?b ?p ?o } WHERE { ?b ?p ?o FILTER (isBlank(?b)) }",
        f"DELETE DATA {{ {s} {p} {o} }} ; INSERT DATA {{ {s} {p} {o} . {s} {q} {t} }}",
    )
    big = (
        f"COPY {g} TO DEFAULT",
        f"MOVE {g} TO {random.choice(GRAPHS)}",
        f"ADD DEFAULT TO {g}",
        f"CLEAR {random.choice(('DEFAULT', 'NAMED', f'GRAPH {g}', 'ALL'))}",
    )
    return PREFIX + random.choice(big if random.random() < 0.02 else small)


def query(random: Random) -> str:
    if random.random() < 0.2:
        return random.choice(RARE)
    s, t = random.choice(NAMES), random.choice(NAMES)
    p, q, g = random.choice(PREDICATES), random.choice(PREDICATES), random.choice(GRAPHS)
    return random.choice(FREQUENT).format(s=s, t=t, p=p, q=q, g=g)
