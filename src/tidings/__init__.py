"""Tidings: a semantic publish-subscribe broker for SPARQL 1.1."""

__version__ = "0.2.0"
