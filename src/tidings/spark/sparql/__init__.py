"""SPARQL over history: a query as a Spark job."""
