"""The broker without its gates: what happens to a request between the gate that took it in and the one that answers.

broker                the story, and all that gates may use: updates, queries, subscriptions, restoring; read this first
policy, status        what a broker is told when it is made; how it is
pending, settlement   what waits for the disk, as values; what becomes of each, once it is durable or cannot be
queries               on the loop for a slice of time, then in a fork
checking              what is wrong with a text, while somebody is writing it
forks, room           long work, in a copy of the process; who has how much of the room for it
ownership             whose something is, and what its owner may still do
alarm                 looks again when something is due
spawn                 the seam to whoever has something done meanwhile
latency               how long updates and batches of the log took
spool                 an answer that is complete before its first byte is sent

updates               accepted       what an update can be
                      queue          one after the other, in the order in which they came
                      delayed        updates that wait for their time; schedule keeps them in order
                      ticks          what time changes without an update
                      elsewhere      those of a graph that is not in memory
                      graph_change   a change of one graph, as an update
                      initial_data   what a broker begins with; seeding, whether that was interrupted
durability            commit_log     numbers and times of commits, and the log they are written to
                      group_commit   nothing is settled before it is durable
                      facts          what is no quad: written, applied, restored in one way, whoever keeps it
                      replay         a broker made again from a snapshot and the log
                      snapshots      the state with one commit, written in the background
                      past           the state as it was after an earlier commit
asking                who answers questions about the whole graph
record                somebody else's store, which has every commit before anybody is told of it
subscriptions         registry       who has which, and who is away
                      admission      how one begins; wish is what a client asks for
                      notifier       who is told what of a commit
                      outbox         what happens while a client has no room, and to numbers that are not mere counts
                      resumption     who goes away, comes back, or does not
                      rights_changes what a living subscription is told when its owner may see other graphs
                      restoration    made again from the log; stored is what the log has of them
                      subscriber     one of them: what it is owed, and what can still be told again
                      external_answers, external_batches   those that another engine works out
"""
