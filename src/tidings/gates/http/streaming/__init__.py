"""Responses without an end: event streams for subscriptions, and the feed of commits."""
