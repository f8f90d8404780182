"""Measures the quality and the speed of approximate matching, on event sets as in the paper with other vocabularies."""
