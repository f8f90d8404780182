"""SPARQL 1.1: from text to algebra, and from algebra to rows, or to text again."""
