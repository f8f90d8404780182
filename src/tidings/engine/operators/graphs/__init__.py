"""GRAPH around what does not say by its own triples in which graph it is.

names       GRAPH ?g { }: the graphs that come and go
each_graph  GRAPH ?g { A }, where A has to be evaluated in each graph on its own: Δ = A' - A in the graphs that changed
"""
