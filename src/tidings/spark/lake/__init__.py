"""The history lake: what it consists of, what is written into it, and the graph as it was.

lake      the folder: batches of changes, and snapshots
about     what it is and how far it reaches, without Spark
manifest  what says which files count
ingest    from a log into the lake, exactly once
writing   what Spark writes: changes, merged changes, snapshots
travel    the graph after any commit, or at any instant
answering questions of a broker about what its log no longer has
"""
