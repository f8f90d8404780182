"""Replaces a variable by a constant: `FILTER(?x = <iri>)` over a pattern that binds ?x is the pattern with <iri> in it.

Only for terms whose `=` is identity, which are IRIs and plain strings: `?x = 1` is also true of 1.0 and of 01.
"""

from tidings.model.terms import Term, Var
from tidings.sparql.algebra import (
    BGP,
    UNIT,
    Call,
    Compare,
    Exists,
    Expression,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Node,
    PathPattern,
    Union,
    certain,
    conjunction,
    conjuncts,
    every_variable,
    may_stand_still,
    mentioned,
    rebuilt,
)
from tidings.sparql.rewrite.looking import Look, unhurried


def reveal_constants(node: Node, look: Look = unhurried) -> Node:
    node = rebuilt(node, lambda inner: reveal_constants(inner, look))
    if not isinstance(node, Filter):
        return node
    kept: list[Expression] = []
    inner = node.inner
    revealed: list[tuple[Var, Term]] = []
    sure: set[Var] | None = None
    for condition in conjuncts(node.condition):
        look()
        found = _constant(condition)
        replaced = None
        if found is not None:
            sure = set(certain(inner)) if sure is None else sure
            if found[0] in sure:
                replaced = _substituted(inner, *found)
        if found is None or replaced is None or sure is None:
            kept.append(condition)
        else:
            inner = replaced
            sure.discard(found[0])
            revealed.append(found)
    if not revealed:
        return node
    for variable, term in revealed:
        inner = Join(Extend(UNIT, variable, term), inner)
    remaining = conjunction(kept)
    return inner if remaining is None else Filter(remaining, inner)


def _constant(condition: Expression) -> tuple[Var, Term] | None:
    """The variable and the term, if a condition says that these are equal."""
    match condition:
        case Compare("=", str() as left, str() as right):
            identity = False
        case Call("SAMETERM", (str() as left, str() as right)):
            identity = True
        case _:
            return None
    if left[0] != "?":
        left, right = right, left
    if left[0] != "?" or right[0] == "?":
        return None
    by_identity = right[0] == "<" or right[-1] == '"' or right[:2] in {"$i", "$s"}
    # A language-tagged literal also equals its other spellings, and the row has the spelling of the store.
    typed = right[0] == '"' and right[-1] == ">"
    return (left, right) if by_identity or (identity and typed) else None


def _substituted(node: Node, variable: Var, term: Term) -> Node | None:
    """The pattern with the term in the place of the variable; None if that might change its meaning."""
    match node:
        case BGP(patterns) if term[0] != "$" or all(p != variable for _, p, _ in patterns):  # no predicate is lifted
            put = {variable: term}
            return BGP(
                tuple(
                    [
                        (put.get(each[0], each[0]), put.get(each[1], each[1]), put.get(each[2], each[2]))
                        if variable in each
                        else each
                        for each in patterns
                    ]
                )
            )
        case PathPattern(subject, path, object_) if not may_stand_still(path):
            put = {variable: term}
            return PathPattern(put.get(subject, subject), path, put.get(object_, object_))
        case Join(left, right) | Union(left, right):
            new_left, new_right = _substituted(left, variable, term), _substituted(right, variable, term)
            return None if new_left is None or new_right is None else type(node)(new_left, new_right)
        case Filter(condition, inner) if not _reads(condition, variable):
            below = _substituted(inner, variable, term)
            return None if below is None else Filter(condition, below)
        case LeftJoin(left, right, condition) if condition is None or not _reads(condition, variable):
            below = _substituted(left, variable, term)
            aside = right if variable not in set(every_variable(right)) else _plain(right, variable, term)
            return None if below is None or aside is None else LeftJoin(below, aside, condition)
        case Minus(left, right) if variable not in set(every_variable(right)):
            below = _substituted(left, variable, term)
            return None if below is None else Minus(below, right)
        case Graph(name, inner) if term[0] == "<" or (term[0] != "$" and name != variable):
            below = _plain(inner, variable, term)
            return None if below is None else Graph(term if name == variable else name, below)
        case _:
            return node if variable not in set(every_variable(node)) else None


def _plain(node: Node, variable: Var, term: Term) -> Node | None:
    """Substitution in a pattern of triple patterns only, where all solutions bind the variable or none does."""
    return _substituted(node, variable, term) if isinstance(node, BGP | PathPattern) else None


def _reads(condition: Expression, variable: Var) -> bool:
    return isinstance(condition, Exists) or variable in set(mentioned(condition))
