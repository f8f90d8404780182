"""`tidings match` with many subscriptions, on Spark."""
