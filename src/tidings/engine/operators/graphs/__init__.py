"""GRAPH around a pattern whose own triple patterns do not determine the graph.

names       GRAPH ?g { }: the graphs that are created or deleted
each_graph  GRAPH ?g { A }, where A has to be evaluated in each graph on its own: Δ = A' - A in the graphs that changed
"""
