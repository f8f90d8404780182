"""Triple patterns:  Δ(t₁ ⋈ … ⋈ tₖ) = Σᵢ new(t₁ … tᵢ₋₁) ⋈ Δtᵢ ⋈ old(tᵢ₊₁ … tₖ).

Each changed quad is a seed: it binds the variables of the pattern it matched, and the other patterns are looked up from
there in the store, most selective first. Nothing of the store is copied, but for what a context store keeps.

    conjunction     the sum
    pattern_delta   one term of it: the rows that grow from the changes of one pattern
    lookups         the other patterns, one after the other, in the states that the formula asks for
    ways            which of them comes first for the terms at hand
    context_store   what the other patterns say for all members, at hand while it does not change
"""
