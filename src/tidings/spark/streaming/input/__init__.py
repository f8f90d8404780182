"""The input of units: the log as a data source of Spark.

routed_source  every change once for each unit that it concerns
unit_rows      the kinds of rows that are sent to units, and their encoding
"""
