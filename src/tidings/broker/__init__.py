"""The broker without its gates: everything that happens between a request and its answer.

broker                the story, and the methods that gates may use; read this first
policy, status        the limits that a broker gets when it is made; its state and its counters
pending, settlement   values that wait for the disk; what the broker does with each once it is durable, or cannot be
queries               answers queries: on the event loop for a slice of time, then in a fork
checking              checks a text that somebody is writing
forks, room           long work in a copy of the process; how clients share the forks
ownership             who owns a subscription or a delayed update, and which rights the owner has now
alarm                 calls work when it is due
spawn                 the interface for starting tasks that must end before the broker does
latency               how long updates and writes of the log took
spool                 an answer that is complete before its first byte is sent
approximate           subscriptions to events whose words differ but mean the same
lake                  answers about commits that the log no longer has, from the history lake

updates               accepted       the kinds of updates, and their outcomes
                      queue          executes updates one after the other, in the order in which they came
                      delayed        updates that wait for their time; schedule keeps them in order
                      ticks          changes of answers that only the clock causes
                      elsewhere      updates of a graph that is not in memory
                      graph_change   a change of one graph, as an update
                      rehearsal      what an update would change
                      initial_data   the data that a broker starts with; seeding notes whether loading was interrupted
durability            commit_log     gives commits their numbers and times, and appends them to the log
                      group_commit   writes the log, and settles what waits for it
                      facts          facts that are no quads: written, applied and restored in one way
                      replay         restores a broker from a snapshot and the log
                      snapshots      writes the state after one commit, in the background
                      past           the state after an earlier commit
asking                answers questions about the whole graph
record                the store of record: an endpoint that gets every commit before a client hears of it
subscriptions         registry       all subscriptions, with their clients, present or away
                      admission      begins a subscription; request is what its client asks for
                      notifier       sends the changes of a commit to the subscribers
                      outbox         adds up changes for clients without room
                      stragglers     brings plans that are behind up to date, in forks
                      resumption     clients that go away, come back, or do not
                      rights_changes changes of an answer because its owner may see other graphs
                      restoration    restores subscriptions from the log; stored is their form in the log
                      roll           the subscriptions that began and ended, in order
                      subscriber     one subscription, with its recent notifications
                      external_answers, external_batches   answers that another engine works out
"""
