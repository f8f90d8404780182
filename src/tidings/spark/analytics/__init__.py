"""Figures of the history and their charts."""
