"""Asks the history lake about commits that the log no longer has.

lake     passes questions to a process, one at a time, within limits
worker   the process that reads the lake: started for a question, ended after a time without any
"""
