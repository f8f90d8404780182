"""Full evaluation: algebra compiled to generators over rows.

dataset      what a request sees of the store
context      the moment, the limits and the outside world of one evaluation
layout       rows are tuples; a layout says which variable stands where
expressions  expressions to functions of a row; None is SPARQL's error
choices      `IN` with constants
pushing      when a pattern may be evaluated from the rows found so far
scan, walk   triple patterns and property paths
joins        hash join, OPTIONAL, MINUS
grouping     GROUP BY and the aggregates
compile      one node of algebra to one plan
query        a whole query to its result
"""
