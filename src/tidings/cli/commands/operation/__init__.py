"""Commands for those who run a broker, keep its history, scale it out and measure it."""
