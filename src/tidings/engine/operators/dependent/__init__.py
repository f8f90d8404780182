"""What becomes of a row of A depends on the rows of B that go with it.

    dependent   Δ = f'(ΔA) + (f' - f) of the rows of A that ΔB concerns
    optional    A ⟕ B
    minus       A - B
    witness     from a change of B to the rows of A that it concerns

FILTER and BIND with EXISTS are of this kind, too.
"""
