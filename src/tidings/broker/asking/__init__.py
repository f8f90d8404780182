"""Answers questions about the whole graph: queries, rehearsals, the existence of graphs.

in_memory   the interface, and its implementation on the broker's own store, for a graph in memory
at_record   its implementation on the store of record, for a graph that is larger than memory
"""
