"""SPARQL over history: a query as a Spark job.

query        the way in: at one commit, or between two instants
compilable   which queries can be compiled, found out without Spark
nodes        algebra to DataFrames, node by node; scans, groups and order are its parts
relations    solutions as a DataFrame, and how two of them meet
expressions  expressions as columns
intervals    when rows held
answers      what comes out, row by row or as Parquet
errors       what can go wrong
"""
