"""Triple patterns:  Δ(t₁ ⋈ … ⋈ tₖ) = Σᵢ new(t₁ … tᵢ₋₁) ⋈ Δtᵢ ⋈ old(tᵢ₊₁ … tₖ).

Each changed quad is a seed: it binds the variables of the pattern that it matched. From there, the other patterns are
looked up in the store, the most selective first. Only a context store copies anything from the store.

    conjunction     the sum
    pattern_delta   one term of it: the rows that follow from the changes of one pattern
    lookups         looks up the other patterns, one after the other, each in the state that the formula asks for
    ways            chooses the first look-up for the present terms
    context_store   the rows of the other patterns for all members, kept while these patterns do not change
"""
