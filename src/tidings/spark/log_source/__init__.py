"""The origins of commits, and the commit log as a data source of Spark.

origin         the interface of an origin, and the log in a folder
broker_origin  a running broker
lake_origin    a lake
data_source    any of them as a DataFrame or a stream of changes
"""
