"""The values everything else is made of: terms, Z-sets, ordered multisets, results, rights, and the tree of errors."""
