"""Subscriptions on a cluster: the engine as keyed state of Spark's Structured Streaming.

job            the story; read this first
unit           some subscriptions of one plan, with the quads that concern them; uses no Spark
router         finds the units that a quad concerns, by a LUTT over all of them
unit_state     a unit as keyed state
packs          all rows to a unit, or from it, in one cell
replay         the notifications for a range of history, as one batch job
rescaling      changes the number of partitions of a stopped job
workers        redirects the output of the Python processes
errors         the errors of a job

input          the changes of the log, by unit
subscriptions  the subscriptions of a job
output         the notifications of a job
monitoring     the state of a job
"""
