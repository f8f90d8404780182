"""Subscriptions on a cluster: the engine as keyed state of Spark's Structured Streaming.

job            the story; read this first
unit           some subscriptions of one plan, with the quads that concern them: pure, no Spark
router         finds the units that a quad concerns, by a LUTT over all of them
unit_state     a unit as keyed state
packs          all rows to a unit, or from it, in one cell
replay         the same over a range of history, at once
rescaling      changes the number of partitions of a job that is stopped
workers        the output of the Python processes
errors         the errors of a job

input          the changes of the log, by unit
subscriptions  which subscriptions a job has
output         the notifications of a job
monitoring     the state of a job
"""
