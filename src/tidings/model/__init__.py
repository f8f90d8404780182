"""The values everything else is made of: terms, Z-sets, results, and the tree of errors."""
