"""Approximate matching in bulk: many events, many subscriptions, on as many cores as there are.

events     events from JSON lines, Parquet or a history lake, as rows with a JSON document
worker     matching in Python workers, by the index of `matching/matcher`
job        all matches, the best of each subscription, or a stream
"""
