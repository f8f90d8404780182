"""Operators that remember: DISTINCT counts, GROUP BY accumulates, ORDER BY with LIMIT keeps an ordered answer.

Their state is kept apart by the parameters of the subscriptions that share the plan: the first `width` columns of a row
say whose it is. A member's state is built from a full evaluation when it is admitted, here or in a fork.

    distinct   counts, and tells the crossings of zero
    group      accumulators, and tells the old and the new row of a changed group
    window     an ordered answer, and tells who enters and who leaves
    clocked    rows by when a condition on NOW() turns; `turning` says when that is
    memory     the states of one operator by member, and how a state goes from one plan to another
"""
