"""What is known about words, read from disk: static vectors, WordNet, indexes; it implements the seam of `matching`."""
