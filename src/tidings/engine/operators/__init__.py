"""Incremental operators: each turns the changes below it into the exact change of its own answer.

    conjunction  triple patterns      Δ = Σᵢ new(<i) ⋈ Δᵢ ⋈ old(>i)
    join         A ⋈ B                Δ = ΔA ⋈ B' + A ⋈ ΔB
    union        A ∪ B                Δ = ΔA + ΔB
    select       σ(A), with EXISTS    Δ = σ'(ΔA) + (σ' - σ) of the rows of A that a change of EXISTS concerns
    extend       BIND, projection     Δ = f(ΔA)
    optional     A ⟕ B                Δ = ΔA ⟕ B' + (⟕' - ⟕) of the rows of A that ΔB concerns
    minus        A - B                likewise
    path         p*, p+, p?, !p       from the starts that a changed edge can be reached from
    distinct     δ(A)                 counts, and tells the crossings of zero
    group        γ(A)                 accumulators, and tells the old and the new row
    window       ORDER BY, LIMIT      an ordered answer, and tells who enters and who leaves
    reevaluate   anything else        new - old, after a hit only

Distinct, group and window keep state; all others look into the store, before and after.
"""
