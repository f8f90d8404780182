"""What is known about words, read from disk: static vectors, WordNet, the Moby Thesaurus, indexes; it implements the
seam of `matching`."""
