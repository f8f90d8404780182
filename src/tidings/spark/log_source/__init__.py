"""Where commits come from, and the commit log as a data source of Spark.

origin         what has commits, and the log in a folder
broker_origin  a running broker
lake_origin    a lake
data_source    any of them as a DataFrame or a stream of changes
"""
