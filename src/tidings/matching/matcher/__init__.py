"""Scores predicates against tuples, and finds the best mappings, with numpy and scipy."""
