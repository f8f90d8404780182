"""Subscriptions on a cluster: the engine as keyed state of Spark's Structured Streaming.

job            the story, all of it together; read this first
unit           some subscriptions of one plan, with the quads that concern them: pure, no Spark
router         which units a quad concerns: the LUTT, over all of them
unit_state     a unit as keyed state
packs          all that goes to a unit, or comes from it, in one cell
replay         the same over a range of history, at once
rescaling      more or fewer partitions for a job that is stopped
workers        what the processes of Python say
errors         what can go wrong

input          the log as units see it
subscriptions  which subscriptions a job has
output         the notifications of a job
monitoring     how a job is
"""
