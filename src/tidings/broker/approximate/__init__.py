"""Approximate subscriptions beside the exact ones.

clause        their text, and the query that stands for them in the engine
description   events from the subjects that an update touched
matching      matches events with subscriptions, and notifies the subscribers
"""
