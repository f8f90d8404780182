"""From a query to the plan that keeps its answer up to date, shared by all queries that differ only in constants."""
