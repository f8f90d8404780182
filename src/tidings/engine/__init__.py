"""The live knowledge graph: the quad store, the exact delta of every update, and the subscriptions it concerns.

In reading order:

    engine     THE STORY: subscribe, apply, advance; `commit` has what comes out of it, as values
    updates    from the text of an update to its exact delta
    store      the quads, now and before the last delta
    contexts   a store that is smaller than the graph; `keys` is what has to be in it
    lutt       which triple patterns of which plans a quad matches; `routing` files them there
    plans      from a query to the plan that keeps its answer up to date
    operators  one delta rule each
    clock      what time it is for answers that compare with NOW(), and when they change; `due_times` has the order
    behind     plans whose steps would hold up the others, and how they catch up
    explain, timing, pauses   what can be seen from outside: plans, counters, pauses

`leaves` is what the indexes of store, LUTT and members end in.
"""
