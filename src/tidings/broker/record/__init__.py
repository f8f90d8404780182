"""The store of record: an endpoint behind the broker that gets every commit before any client is told of it.

seam            what the broker needs of such a store
intents         what it was asked for and may not have, and what it had lately, across restarts
delivery        THE STORY: commits on their way to it, in order
outage          what happens while it is away, refuses, or has forgotten
giving_back     what it had before, as far as it takes it
reconciliation  changes that others made there, as one commit
mirror          a broker whose graph is in memory and there
context_mode    a broker whose graph is there, and only contexts in memory
held            which subscription holds which patterns
keeping         contexts that are fetched and forgotten, and how much they may be
instances       what a WHERE is asked for, and what its solutions say
working_out     exact deltas from what the store answers
scratch         what is known of the graph meanwhile
"""
