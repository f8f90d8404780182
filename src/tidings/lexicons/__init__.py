"""Reads knowledge about words from disk: static vectors, WordNet, the Moby Thesaurus, ESA indexes. Its classes
implement the protocols of `matching`."""
