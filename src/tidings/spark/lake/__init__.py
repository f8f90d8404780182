"""The history lake: what it consists of, what is written into it, and the graph as it was.

lake      the folder: batches of changes, and snapshots
manifest  what says which files count
ingest    from a log into the lake, exactly once
writing   what Spark writes: changes, merged changes, snapshots
travel    the graph after any commit, or at any instant
"""
