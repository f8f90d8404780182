"""Bulk work on Apache Spark: queries over the whole history, subscriptions on a cluster, indexes, bulk matching.

    the log of a broker, or its /log  ->  log_source  ->  lake (Parquet and manifests)  ->  sparql, analytics
                                                      ->  streaming  ->  notifications

log_source  commits from a folder, a broker or a lake, as a data source of Spark
lake        the history lake: every change in Parquet, and the graph after any commit
sparql      queries over the lake, after one commit or between two instants
analytics   figures of the history, and their charts
streaming   subscriptions as keyed state
esa         builds an ESA index from a wiki or from WordNet
matching    events and approximate subscriptions in bulk
session     the one place that makes a Spark session; uses masters and java
errors      the errors, also those from workers
"""
