"""The input of units: the log as a data source of Spark.

routed_source  the data source: every change once for each unit that it concerns
unit_rows      the kinds of rows for units, and their encoding
"""
