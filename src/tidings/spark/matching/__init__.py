"""Approximate matching in bulk: many events, many subscriptions, on all cores of a machine or a cluster.

events     events from JSON lines, Parquet or a history lake, as rows with a JSON document
worker     matching in Python workers, by the index of `matching/matcher`
job        all matches, the best of each subscription, or a stream
"""
