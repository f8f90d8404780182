"""Figures of the history, and their charts.

figures  values over time, windows, rates, churn and gaps, as DataFrames
numbers  numeric literals as doubles
plots    selects the rows that are drawn, with Spark
charts   draws them
"""
