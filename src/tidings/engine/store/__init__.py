"""The quads in memory, and as they were before the last delta.

    store     all quads: graphs by name, and which named graphs say anything about a term
    graph     one graph, indexed by exactly the shapes that look-ups need
    staging   a large delta, indexed aside before the store takes it over
    removal   what such a delta removes, found aside
    before    the store before its last delta, without a copy of it
    spelling  language-tagged literals that differ only in the case of their tags are one term, spelt in one way

The leaves of all indexes are those of `engine.leaves`.
"""
