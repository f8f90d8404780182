"""The broker without its gates: what happens to a request between the gate that took it in and the one that answers.

broker         the story: updates, queries, subscriptions, delayed updates, restoring; read this first
updates        one after the other, in the order in which they came
chronicle      numbers and times of commits, and the log they are written to
scribe         nothing is answered before it is durable
latency        how long updates and batches of the log took
subscriptions  who has which, who is told what, who came back
subscriber     one of them: what it is owed, and what can still be told again
outboxes       what happens while a client has no room, and to numbers that are not mere counts
records        subscriptions as the log has them
relay          subscriptions that are worked out elsewhere; relaying tells what was
queries        on the loop for a slice of time, then in a fork
forks          long work, in a copy of the process
delays         updates that wait for their time; agenda keeps them in order
snapshots      the state with one commit, written in the background
changes        a change of one graph, as an update
seeding        what a broker begins with
spool          an answer that is complete before its first byte is sent
"""
