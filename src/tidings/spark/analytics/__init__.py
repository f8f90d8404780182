"""Figures of the history and their charts.

figures  values over time, windows, rates, churn and gaps, as DataFrames
numbers  literals as numbers
plots    what of it is drawn
charts   how it is drawn
"""
