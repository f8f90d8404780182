"""Rows that are compared by `<` with what comes from elsewhere: only those that lie between the old and the new change.

by_value    rows in the order of one of their values
crossing    π σ(a > m)(A × B), where one row of a sub-SELECT says m for all
surpassed   A FILTER (NOT) EXISTS { B FILTER (b > a) }
"""
