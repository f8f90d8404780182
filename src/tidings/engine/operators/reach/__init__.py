"""Reachability between bound ends:  Δ(N ⋈ path ⋈ F) = N ⋈ path ⋈ ΔF + N ⋈ Δpath ⋈ F' + ΔN ⋈ path' ⋈ F'.

An end of a path is bound if it is a constant, or if the patterns that the path is joined with bind it. Then only the
pairs from there matter, never all pairs of the graph.

    automaton     a path as states and single steps between them
    search_tree   all terms that are reached from one root, kept up to date by re-anchoring
    pairs         the pairs that are connected, and those that a commit connects or disconnects: by trees or by walks
    turns         walks from different sides that take turns until one is done
    ends          the two ends of a path, with the patterns that bind them
    reach         the operator
"""
