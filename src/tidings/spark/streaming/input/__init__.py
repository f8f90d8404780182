"""The log as units see it, as a data source of Spark.

routed_source  every change once for each unit that it concerns
unit_rows      the kinds of rows that are on their way to a unit, and their encoding
"""
