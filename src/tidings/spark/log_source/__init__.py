"""Where commits come from, and the commit log as a data source of Spark.

origin       a folder or a broker, by one small interface
lake_origin  a lake, by the same
data_source  any of them as a DataFrame or a stream of changes
"""
