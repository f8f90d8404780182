"""The live knowledge graph: the quad store and the exact delta of every update."""
