"""The store of record: an endpoint behind the broker that gets every commit before any client hears of it.

seam            the interface of such a store
intents         notes in the log of the commits that the store may not have yet, and of its last states
delivery        THE STORY: delivers commits to the store, in order
outage          handles a store that is away, refuses updates, or has lost data
giving_back     restores a state in the store, as far as it accepts it
reconciliation  turns changes that others made in the store into one commit
mirror          a broker with the whole graph both in memory and in the store
context_mode    a broker with only contexts in memory, and the whole graph in the store
held            which subscription holds which patterns
keeping         fetches, forgets and bounds contexts
instances       the query for the WHERE of an update, and the quads that its solutions give
working_out     computes exact deltas from the answers of the store
at_hand         computes deltas of updates that need only contexts, without the store
scratch         what the broker knows of the graph while it computes deltas
"""
