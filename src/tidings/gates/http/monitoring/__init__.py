"""For operators and programmers: health, status, metrics, subscriptions, connections, and the OpenAPI description."""
