"""The broker without its gates: what happens to a request between the gate that took it in and the one that answers.

broker       the story: updates, queries, subscriptions, delayed updates; read this first
queue        updates, one after the other
scribe       nothing is answered before it is durable
subscriber   who is owed what, and what can still be told again
agenda       updates that wait for their time
forks        long work, in a copy of the process
restoring    the state before a crash, from snapshot and log
metrics      what is counted
"""
