"""Updates on their way to the engine: the queue, delayed updates, whole graphs, the data to begin with."""
