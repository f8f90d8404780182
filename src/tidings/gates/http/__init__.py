"""The HTTP gate: the SPARQL Protocol, whole graphs, event streams, the feed of commits, administration, monitoring."""
