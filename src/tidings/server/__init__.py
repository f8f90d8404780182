"""The server process: settings, the broker with its gates and sockets, the demo city, delivery of answers from Spark.

app        runs a broker by its settings; read this first
brokers    builds a broker by its settings
gates      builds its gates, and the servers of their connections
"""
