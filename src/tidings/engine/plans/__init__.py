"""From a query to the plan that keeps its answer up to date, shared by all queries that differ only in constants.

In reading order:

    query_template   one kind of query text: from the constants of a text to its SPU
    maintainable     which queries can be kept up to date by deltas, and why the others cannot
    lift             which constants become parameters; canonical names
    plan_cache       the SPUs in use, by what makes queries equal
    spu              what an SPU is: members, subscribers, routes
    incremental_spu  one incremental plan and its members
    planner          from algebra to a tree of operators; `built` is what it makes of a part
    regrouping       patterns seen in another way before they are planned
    routes           the triple patterns of a query, which the LUTT files
    answer_forms     from changed solutions to what a subscriber is told: SELECT, ASK, CONSTRUCT
    range_spu        members that differ in the threshold of a range filter; `thresholds` has them in order
    reevaluated_spu  what is evaluated in full and compared with the last time
    newcomer         a member whose first answer is found in a fork: how it catches up
"""
