"""Bulk work on Apache Spark: the history lake, which holds every change that was ever committed, and travel in time.

    the log of a broker, or its /log  ->  source  ->  ingest  ->  lake (Parquet and manifests)  ->  travel

PySpark is imported here and nowhere else, and only by the modules that need it: `pip install 'tidings[spark]'`.
"""
