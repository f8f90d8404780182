"""The history lake that knows what the log no longer has, and the process that reads it.

lake     questions to it, one at a time, within bounds
worker   the process: started when there is a question, ended when there was none for long
"""
