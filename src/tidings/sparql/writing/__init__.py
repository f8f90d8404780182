"""Writes algebra as SPARQL text, for the store of record, which evaluates it.

requests     queries, and the patterns of updates
patterns     graph patterns and solution modifiers
expressions  expressions, property paths, terms
surroundings the constants of a request, and the graphs that it sees
"""
