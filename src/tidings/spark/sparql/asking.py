"""EXISTS: keeps the rows that ask whether a pattern has a solution for them, while joins bind their variables."""

from dataclasses import replace

from tidings.model.terms import Var
from tidings.spark.sparql.relations import Relation, new_name


def shadowed(relation: Relation, variables: list[Var]) -> tuple[Relation, dict[Var, Var]]:
    """With copies of columns that a join may fill in, and where each variable is found as it was."""
    where: dict[Var, Var] = {}
    for variable in variables:
        where[variable] = variable
        if variable not in relation.certain:
            where[variable] = f"?:was{new_name()}"
            relation = relation.extended(where[variable], relation[variable])
    return relation, where


def by_what_is_bound(relation: Relation) -> list[Relation]:
    """The rows of a relation in several, each without the variables that are unbound in it."""
    found = [relation]
    for variable in [each for each in relation.names if each not in relation.certain]:
        bound = [replace(each.where(each[variable].isNotNull()), certain=each.certain | {variable}) for each in found]
        rest = [each.where(each[variable].isNull()) for each in found]
        found = [*bound, *(each.projected(name for name in each.names if name != variable) for each in rest)]
    return found


def answered(found: Relation, where: dict[Var, Var]) -> Relation:
    """The distinct rows, as they were, that something was found for."""
    picked = replace(found, rank=None).projected(where.values())
    names = {variable: picked.names[place] for variable, place in where.items()}
    certain = frozenset(variable for variable, place in where.items() if place in picked.certain)
    return replace(picked, names=names, certain=certain).distinct()
