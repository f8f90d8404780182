"""Commands for administrators of a broker with security: clients, grants, keys."""
