"""The engine: the quad store, the exact delta of every update, and the changes that it makes to subscriptions' answers.

In reading order:

    engine     THE STORY: subscribe, apply, advance; `commit` has the results as values
    updates    from the text of an update to its exact delta
    store      the quads, now and before the last delta
    contexts   a store that is smaller than the graph; `keys` says which quads it needs
    lutt       finds the triple patterns that a quad matches; `routing` enters those of the plans
    plans      from a query to the plan that keeps its answer up to date
    operators  one delta rule each
    clock      the instant for answers that compare with NOW(), and when they change; `due_times` orders the instants
    behind     plans whose steps take too long, and how they catch up
    explain, timing, pauses, warnings   what the engine reports: plans, counters, pauses, warnings about texts

`leaves` are the leaves of the indexes in the store, the LUTT and the plans.
"""
