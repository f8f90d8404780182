"""Full evaluation: algebra compiled to generators over rows.

dataset      the graphs that a request sees
context      the current time, the limits and the client for SERVICE
layout       rows are tuples; a layout says which variable stands where
expressions  expressions to functions of a row; None is SPARQL's error
choices      `IN` with constants
pushing      when a plan may extend rows by a pattern, instead of joining them
scan, walk   triple patterns and property paths
joins        hash join, OPTIONAL, MINUS
grouping     GROUP BY and the aggregates
compile      one node of algebra to one plan
query        a whole query to its result
"""
