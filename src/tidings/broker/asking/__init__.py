"""Who answers questions about the whole graph.

in_memory   the seam, and the memory of the broker, which has it mostly
at_record   the store of record, where the graph is larger than memory
"""
