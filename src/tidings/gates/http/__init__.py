"""The HTTP gate: the SPARQL Protocol, whole graphs, the feed of commits, and what operators ask for."""
