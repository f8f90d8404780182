"""Answers without an end: subscriptions as event streams, and the feed of commits."""
