"""Topics, with which the paper restricts the events that a subscription is matched with.

topics          a taxonomy: topics, below broader ones
skos            reads a taxonomy from a SKOS vocabulary, or from JSON
built_in        a small taxonomy for sensors in cities, buildings and grids
classification  the nearest topic of a phrase
clusters        events and subscriptions by their topics; counts the matches that this loses

Clusters lose matches. The bounds of `matcher/index.py` lose none, and are the default.
"""
