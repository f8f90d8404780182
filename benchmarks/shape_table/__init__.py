"""Shapes of subscriptions, each with data of a size, a query, and updates that are undone again.

shape       what a shape is, and how its texts are written
paths       reachability: lattices, cycles, chains, trees
joins       many patterns, hubs, empty stores, IN, OPTIONAL, MINUS, UNION
summaries   aggregates, windows, DISTINCT
nested      sub-SELECT and EXISTS
clock       comparisons with NOW()
order       rows compared with each other by their values
idioms      what is missing, what surpasses, shares of a whole; hubs
spread      what was re-evaluated or met everything once
mixed       operators on top of each other
"""
