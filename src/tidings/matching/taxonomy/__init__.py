"""Topics, and what falls under them: the paper's way to match a subscription with few events only.

topics          a taxonomy: topics, below broader ones
skos            a taxonomy of a SKOS vocabulary, or of JSON
built_in        a small one, of what sensors in cities, buildings and grids tell
classification  the nearest topic of a phrase
clusters        events and subscriptions by their topics; what that keeps, and what it loses

Clusters lose matches; the bound of `matcher/index.py` loses none and is what prunes unless somebody wants clusters.
"""
