"""EXISTS: finds the rows for which a pattern has a solution, although joins fill in unbound variables of these rows."""

from dataclasses import replace

from tidings.model.terms import Var
from tidings.spark.sparql.relations import Relation, new_name


def shadowed(relation: Relation, variables: list[Var]) -> tuple[Relation, dict[Var, Var]]:
    """The relation with copies of columns that a join may fill in, and for each variable, which one has its original
    value."""
    where: dict[Var, Var] = {}
    for variable in variables:
        where[variable] = variable
        if variable not in relation.certain:
            where[variable] = f"?:was{new_name()}"
            relation = relation.extended(where[variable], relation[variable])
    return relation, where


def by_what_is_bound(relation: Relation) -> list[Relation]:
    """The relation divided into several by which variables are bound; each has only its bound variables."""
    found = [relation]
    for variable in [each for each in relation.names if each not in relation.certain]:
        bound = [replace(each.where(each[variable].isNotNull()), certain=each.certain | {variable}) for each in found]
        rest = [each.where(each[variable].isNull()) for each in found]
        found = [*bound, *(each.projected(name for name in each.names if name != variable) for each in rest)]
    return found


def answered(found: Relation, where: dict[Var, Var]) -> Relation:
    """The distinct original rows for which there is a solution."""
    picked = replace(found, rank=None).projected(where.values())
    names = {variable: picked.names[place] for variable, place in where.items()}
    certain = frozenset(variable for variable, place in where.items() if place in picked.certain)
    return replace(picked, names=names, certain=certain).distinct()
