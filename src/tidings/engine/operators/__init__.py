"""Incremental operators, one a module: each turns the changes below it into the exact change of its own answer.

    conjunction  triple patterns      Δ = Σᵢ new(<i) ⋈ Δᵢ ⋈ old(>i)
    path         p*, p+, p?, !p       from the starts that a changed edge can be reached from
    constant     VALUES               Δ = nothing
    filter       σ(A), with EXISTS    Δ = σ'(ΔA) + (σ' - σ) of the rows of A that a change of EXISTS concerns
    extend       BIND                 Δ = f(ΔA)
    project      π(A)                 Δ = π(ΔA)
    union        A ∪ B                Δ = ΔA + ΔB
    join         A ⋈ B                Δ = ΔA ⋈ B' + A ⋈ ΔB
    optional     A ⟕ B                Δ = ΔA ⟕ B' + (⟕' - ⟕) of the rows of A that ΔB concerns
    minus        A - B                likewise
    stateful     distinct    δ(A)             counts, and tells the crossings of zero
                 group       γ(A)             accumulators, and tells the old and the new row
                 window      ORDER BY, LIMIT  an ordered answer, and tells who enters and who leaves
    reevaluate   anything else        new - old, after a hit only

The stateful ones keep state; all others look into the store, before and after. `base` is what all share; `witness`
leads from a change on the right side of EXISTS, OPTIONAL or MINUS to the rows on the left; `dependent` is what OPTIONAL
and MINUS have in common.
"""
