"""The process: settings, the broker with its gates and sockets, the demo city, delivery of what Spark works out.

app        settings to a running broker; begin here
brokers    settings to a broker
gates      settings to its gates, and to what serves their connections
"""
