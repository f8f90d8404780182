"""Which subscriptions a job has: who asked for them, which unit each belongs to, and what it begins with.

requests      which subscriptions there are to be: a file of requests, or a broker
request_file  that file, for the one who writes it
registrar     which unit a subscription belongs to
registry      which subscriptions there are, and from which commit to which: versions in a folder
enrolling     how subscriptions begin: their units, and what concerns them in the graph of that commit
seeding       what concerns those who begin, as files
"""
