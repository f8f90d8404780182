"""The process: settings, the broker with its gates and sockets, the demo city, delivery of what Spark works out."""
