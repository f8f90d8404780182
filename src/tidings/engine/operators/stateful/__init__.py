"""Operators with state: DISTINCT counts, GROUP BY accumulates, ORDER BY with LIMIT keeps an ordered answer.

Each member of the plan has its own state; the first `width` columns of a row are the parameters of its member. A full
evaluation builds the state of a new member, in the broker or in a fork.

    distinct   keeps counts; emits a row when its count crosses zero
    group      keeps accumulators; emits the old and the new row of a changed group
    window     keeps an ordered answer; emits the rows that enter and leave the window
    clocked    keeps rows by the instant at which a condition on NOW() may change; `turning` works out this instant
    memory     the states of one operator by member, and how to hand a state from one plan to another
"""
