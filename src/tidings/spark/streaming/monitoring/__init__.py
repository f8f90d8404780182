"""How a job is: how far, how fast, how large.

checkpoint  whose the folder of a job is, and how far Spark is
tally       what all batches add up to
figures     how far behind, how fast, how large
metrics     the same for Prometheus
"""
