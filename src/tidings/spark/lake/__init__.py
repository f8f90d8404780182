"""The history lake: what it consists of, what is written into it, and the graph as it was."""
