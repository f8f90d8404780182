"""Bulk work on Apache Spark: every change that was ever committed, asked later, and subscriptions on a cluster.

    the log of a broker, or its /log  ->  source  ->  ingest  ->  lake (Parquet and manifests)  ->  travel

the log         origin, source, lake_origin
the lake        ingest, filling, lake, manifest, lock; travel takes graphs out of it
SPARQL over it  query, compilable; compiling, compiling_scans, compiling_relations, compiling_groups, intervals;
                expressions_spark, expressions_spark_order; answers writes what is found
analytics       analytics, numbers; plots picks what charts draws
Spark itself    session, masters, java, errors
scaleout        subscriptions as keyed state: a room of its own

PySpark is imported here and nowhere else, and only by the modules that need it: `pip install 'tidings[spark]'`.
"""
