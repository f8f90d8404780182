"""Commands to run a broker, to keep its history, to scale it out and to measure it."""
