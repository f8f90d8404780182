"""Operators in which the outcome for a row of A depends on the rows of B that are compatible with it.

    dependent   Δ = f'(ΔA) + (f' - f) of the rows of A that ΔB concerns
    optional    A ⟕ B
    minus       A - B
    witness     finds the rows of A that a change of B concerns

FILTER and BIND with EXISTS are of this kind, too.
"""
