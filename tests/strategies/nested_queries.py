"""Queries that nest OPTIONAL, MINUS, EXISTS, GRAPH and sub-SELECTs in each other, with few names and few values.

All draw from the same seven variables, so the same name often stands in several scopes, and from so few triples that
almost every commit changes an answer. A seed makes a query: a number shrinks fast, and a thousand histories take a
minute.
"""

from random import Random

from strategies.data import PREFIX

NODES = ("?x", "?y", "?z")
VALUES = ("?u", "?v", "?w")
VARIABLES = (*NODES, *VALUES, *VALUES)
CONSTANTS = (":a", ":b", ":c")
COMPARATORS = ("<", ">", "<=", ">=", "=", "!=")
PATHS = (":p+", ":p*", ":p/:q", "^:q", ":p|:r", ":r?")
AGGREGATES = ("MAX", "MIN", "SUM", "COUNT", "AVG", "SAMPLE")


class NestedQueries:
    """Makes queries. Some bind a variable twice, which the parser refuses."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._pick = random.choice

    def query(self) -> str:
        match self._random.randrange(12):
            case 0:
                form = f"ASK {{ {self._group(2)} }}"
            case 1:
                form = f"SELECT * {{ {self._group(2)} }}"
            case 2:
                template = f"{self._node()} :r {self._object()} . {self._node()} :q {self._object()}"
                form = f"CONSTRUCT {{ {template} }} {{ {self._group(2)} }}"
            case _:
                form = self._select(2)
        return PREFIX + form

    def _chance(self, percent: int) -> bool:
        return self._random.randrange(100) < percent

    def _select(self, depth: int) -> str:
        group, distinct = self._group(depth), self._pick(("", "", "DISTINCT "))
        shown = " ".join(dict.fromkeys(self._random.sample((*NODES, *VALUES), self._random.randint(1, 3))))
        match self._random.randrange(10):
            case 0 | 1:
                key, aggregate = self._pick(VARIABLES), f"{self._pick(AGGREGATES)}({self._pick(VARIABLES)})"
                having = f" HAVING ({aggregate} > 1)" if self._chance(20) else ""
                return f"SELECT {key} ({aggregate} AS ?m) {{ {group} }} GROUP BY {key}{having}"
            case 2:
                return f"SELECT ({self._pick(AGGREGATES)}({distinct}{self._pick(VARIABLES)}) AS ?m) {{ {group} }}"
            case 3 | 4:
                order = f"ORDER BY {self._pick(('', 'DESC'))}({self._pick(VARIABLES)})"
                window = f"LIMIT {self._random.randint(1, 3)}{self._pick(('', ' OFFSET 1'))}"
                return f"SELECT {distinct}{shown} {{ {group} }} {order} {window}"
            case _:
                return f"SELECT {distinct}{shown} {{ {group} }}"

    def _group(self, depth: int) -> str:
        text = " ".join(self._triple() for _ in range(self._random.randint(1, 3)))
        for _ in range(self._pick((0, 1, 1, 2) if depth else (0, 0, 1))):
            text = self._extended(text, depth)
        return text

    def _extended(self, text: str, depth: int) -> str:
        inside = self._group(depth - 1) if depth else ""
        match self._random.randrange(20) if depth else 0:
            case 0 | 1 | 2 | 3:
                return f"{text} FILTER ({self._condition(depth)})"
            case 4 | 5 | 6:
                return f"{text} OPTIONAL {{ {inside} }}"
            case 7 | 8:
                return f"{text} MINUS {{ {inside} }}"
            case 9 | 10 | 11 | 12:
                return f"{text} FILTER {self._pick(('', 'NOT '))}EXISTS {{ {inside} }}"
            case 13:
                return f"{{ {text} }} UNION {{ {inside} }}"
            case 14 | 15 | 16:
                return f"{text} {{ {self._select(depth - 1)} }}"
            case 17:
                return f"{text} GRAPH {self._pick((':g', '?g', '?x'))} {{ {inside} }}"
            case 18:
                return f"{text} VALUES {self._pick(VARIABLES)} {{ {self._pick(('1 2', ':a :b', 'UNDEF 1'))} }}"
            case _:
                return f"{text} BIND ({self._operand()} + 1 AS ?k{self._random.randrange(10)})"

    def _triple(self) -> str:
        path = self._pick(PATHS) if self._chance(8) else self._pick((":p", ":q", ":r"))
        return f"{self._node()} {path} {self._object()} ."

    def _node(self) -> str:
        return self._pick(NODES) if self._chance(85) else self._pick(CONSTANTS)

    def _object(self) -> str:
        return self._pick(VARIABLES) if self._chance(90) else self._pick((":a", ":b", "1", "2"))

    def _operand(self) -> str:
        return self._pick((*VARIABLES, "1", "2", f"{self._pick(VARIABLES)} + 1"))

    def _condition(self, depth: int) -> str:
        match self._random.randrange(12):
            case 0 | 1:
                return f"{self._pick(NODES)} != {self._pick(NODES)}"
            case 2:
                return f"({self._condition(depth)} || {self._condition(depth)})"
            case 3:
                return f"({self._condition(depth)} && {self._condition(depth)})"
            case 4:
                return f"{self._pick(('', '!'))}BOUND({self._pick(VARIABLES)})"
            case 5:
                return f"STR({self._pick(VARIABLES)}) = STR({self._pick(VARIABLES)})"
            case 6 if depth:
                return f"EXISTS {{ {self._group(0)} }} || {self._operand()} > {self._operand()}"
            case _:
                return f"{self._operand()} {self._pick(COMPARATORS)} {self._operand()}"
