"""The quads in memory, the look-ups they answer, and the state before the last delta."""
