"""Rows that are compared by `<` with a value from elsewhere. If that changes, only rows between old and new change.

by_value    rows in the order of one of their values
crossing    π σ(a > m)(A ⋈ B), where m is a scalar such as an average or a limit
surpassed   A FILTER (NOT) EXISTS { B FILTER (b > a) }
"""
