"""The values everything else is made of: terms, Z-sets, results, rights, and the tree of errors."""
