"""Reachability between bound ends:  Δ(N ⋈ path ⋈ F) = N ⋈ path ⋈ ΔF + N ⋈ Δpath ⋈ F' + ΔN ⋈ path' ⋈ F'.

A path has an end that is bound if it is a constant, or if what the path is joined with binds it. Then only the pairs
from there matter, never all pairs of the graph.

    automaton     a path as states and single steps between them
    search_tree   everything that is reached from one root, kept up to date by re-anchoring
    pairs         which pairs are connected, and which pairs a commit connects or parts: by trees, or by walking
    turns         walks that find the same from different sides
    ends          what stands at the two ends of a path
    reach         the operator
"""
