"""Incremental operators, one a module: each turns the changes below it into the exact change of its own answer.

    conjunction  triple patterns      Δ = Σᵢ new(<i) ⋈ Δᵢ ⋈ old(>i)
    path         p*, p+, p?, !p       from the starts that a changed edge can be reached from
    reach        p+ and p* with a bound end: Δ = N ⋈ R ⋈ ΔF + N ⋈ ΔR ⋈ F' + ΔN ⋈ R' ⋈ F'
    constant     VALUES               Δ = nothing
    filter       σ(A), with EXISTS    Δ = σ'(ΔA) + (σ' - σ) of the rows of A that a change inside EXISTS concerns
    extend       BIND                 Δ = f(ΔA)
    project      π(A)                 Δ = π(ΔA)
    union        A ∪ B                Δ = ΔA + ΔB
    join         A ⋈ B                Δ = ΔA ⋈ B' + A ⋈ ΔB
    ordered      crossing    π σ(a > m)(A ⋈ B)      rows compared with a scalar, found in the order of their values
                 surpassed   A FILTER EXISTS { B FILTER (b > a) }   rows compared with the extreme of others
    dependent    A ⟕ B, A - B         Δ = f'(ΔA) + (f' - f) of the rows of A that ΔB concerns
    stateful     distinct    δ(A)             keeps counts; emits a row when its count crosses zero
                 group       γ(A)             keeps accumulators; emits the old and the new row of a group
                 window      ORDER BY, LIMIT  keeps an ordered answer; emits the rows that enter and leave the window
    graphs       GRAPH ?g { }         Δ = the graphs that were created or deleted
                 GRAPH ?g { A }       Δ = A' - A in the changed graphs, if A must be evaluated in each graph on its own
    reevaluate   anything else        new - old, after a hit only

The stateful operators keep state; `reach` keeps search trees, `ordered` rows by value, and `side` the rows of
sub-SELECTs. All others look into the store, before and after the commit. `base` has what all operators share, `law`
makes sure that no delta costs more than a new evaluation, `counts` decides when plans are made again, and `dependent`
has what OPTIONAL, MINUS and EXISTS have in common.
"""
