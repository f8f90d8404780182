"""The live knowledge graph: the quad store, the exact delta of every update, and the subscriptions it concerns."""
