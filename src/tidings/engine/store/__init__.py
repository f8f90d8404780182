"""The quads in memory, now and before the last delta.

    store     all quads: graphs by name, and an index of the named graphs in which a term occurs
    graph     one graph, indexed for exactly the shapes of look-ups
    staging   prepares a large delta in portions, before the store applies it at once
    removal   prepares what such a delta removes
    before    a view of the store before its last delta, without a copy of it
    spelling  language-tagged literals that differ only in the case of their tags are one term, spelt in one way

The leaves of all indexes are those of `engine.leaves`.
"""
