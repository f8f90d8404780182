"""Subscriptions on a cluster: the engine as keyed state of Spark's Structured Streaming.

errors      what can go wrong
unit        some subscriptions of one plan, with the quads that concern them: pure, no Spark
registry    which subscriptions there are, and from which commit to which: versions in a folder
router      which units a quad concerns: the LUTT, over all of them
rows        what is on its way to a unit, and what it has to tell, as columns
source      the log, routed: a data source of Spark
processor   a unit as keyed state
sink        what was told, exactly once: a data sink of Spark
job         all of it together
"""
