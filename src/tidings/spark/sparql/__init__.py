"""SPARQL over history: a query as a Spark job.

query        the entry point: queries after one commit, or between two instants
compilable   decides without Spark whether a query can be compiled
nodes        compiles algebra to DataFrames, node by node
scans        triple patterns as selections from the quads
groups       GROUP BY and aggregates
order        ORDER BY, as sort keys of bytes
asking       EXISTS: finds the rows for which a pattern has a solution
relations    solutions as a DataFrame, and joins of two of them
expressions  expressions as columns
intervals    the intervals for which rows held
answers      answers row by row, or as Parquet
errors       the errors of compiling a query
"""
