"""The history lake: its files, what writes them, and the graph after any earlier commit.

lake       the folder: batches of changes, and snapshots
about      the description of a lake, which can be read without Spark
manifest   the lists of valid files
ingest     copies a log into the lake, exactly once
writing    writes changes, merged changes and snapshots, with Spark
travel     the graph after any commit, or at any instant
visible    restricts a lake to the graphs that a client may read
answering  answers the questions of a broker about commits that its log no longer has
"""
