"""From a query to the plan that keeps its answer up to date, shared by all queries that differ only in constants.

In reading order:

    query_template   one kind of query text: from the constants of a text to its SPU
    planning         finds or makes the plan for the text of a query
    maintainable     which queries can be kept up to date by deltas, and why the others cannot
    lift             which constants become parameters; canonical names
    plan_cache       the SPUs in use, by canonical query and dataset
    spu              the interface of an SPU: members, subscribers, routes
    incremental_spu  one incremental plan and its members
    planner          from algebra to a tree of operators; `built` is an operator with its rows
    regrouping       rewrites patterns into equivalent ones that have better delta rules
    routes           the triple patterns of a query, which are entered in the LUTT
    answer_forms     from changed solutions to the change of an answer: SELECT, ASK, CONSTRUCT
    described_spu    DESCRIBE
    range_spu        members that differ in the threshold of a range filter
    reevaluated_spu  a query that is evaluated in full, and compared with its last answer
    newcomer         a member whose first answer a fork finds: how it catches up
"""
