"""The state of a job: its progress, its speed and its size.

checkpoint  the folder of a job, and the progress of Spark in it
tally       the sums over all batches
figures     the figures: how far behind, how fast, how large
metrics     the figures for Prometheus
"""
