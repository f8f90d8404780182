"""Approximate matching in bulk: many events, many subscriptions, on as many cores as there are.

events     events from JSON lines, Parquet or a history lake, as rows with a JSON document
worker     what happens in Python workers: the index of `matching/matcher`, which answers there as it does anywhere
job        all matches, the best of each subscription, or a stream
"""
