"""What `tidings match` does with many subscriptions, on Spark."""
