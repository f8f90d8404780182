"""Bulk work on Apache Spark: queries over the whole history, and subscriptions on a cluster.

    the log of a broker, or its /log  ->  log_source  ->  lake (Parquet and manifests)  ->  sparql, analytics
                                                      ->  streaming  ->  notifications

log_source  commits from a folder, a broker or a lake, as a data source of Spark
lake        every change in Parquet, and the graph as it was
sparql      queries over the lake, at a time or over all of it
analytics   figures of the history, and their charts
streaming   subscriptions as keyed state
esa         an index of what words are about, of a wiki or of WordNet
matching    events and approximate subscriptions in bulk
session     the one place that makes a session of Spark; masters, java and lock are what it takes
errors      what can go wrong, and how an error comes back from a worker

PySpark is imported here and nowhere else, and only by the modules that need it: `pip install 'tidings[spark]'`.
"""
