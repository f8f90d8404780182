"""Topics. The paper uses them to restrict the events that a subscription is matched with.

topics          taxonomies: topics below broader topics
skos            reads a taxonomy from a SKOS vocabulary, or from JSON
built_in        a small taxonomy for sensors in cities, buildings and grids
classification  finds the nearest topic of a phrase
clusters        decides by topics which pairs are matched; counts the matches that this loses
clustered       an index of subscriptions, restricted by topics

Clusters lose matches. The bounds of `matcher/index.py` lose none, and are the default.
"""
