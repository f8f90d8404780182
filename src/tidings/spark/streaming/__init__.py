"""Subscriptions on a cluster: the engine as keyed state of Spark's Structured Streaming.

errors      what can go wrong
unit        some subscriptions of one plan, with the quads that concern them: pure, no Spark
registry    which subscriptions there are, and from which commit to which: versions in a folder
registrar   which unit a subscription belongs to
enrolling   how subscriptions begin: their units, and what concerns them in the graph of that commit (`seeding`)
router      which units a quad concerns: the LUTT, over all of them
rows        what is on its way to a unit, and what it has to tell, as columns
source      the log, routed: a data source of Spark
processor   a unit as keyed state
wanted      who wants what, for the job
wishing     who wants what, for the one who says so
telling     what was told, for whoever reads it
sink        what was told, exactly once: a data sink of Spark
checkpoint  whose the folder of a job is, and how far Spark is
workers     what the processes of Python say
job         all of it together
bulk        the same over a range of history, at once
rescaling   more or fewer partitions for a job that is stopped
tally       what all batches add up to
figures     how a job is
metrics     the same for Prometheus
"""
