"""Events and subscriptions as values, and the texts that they are read from."""
