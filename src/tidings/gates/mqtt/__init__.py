"""MQTT 5 and 3.1.1: the gate is a client of the site's own MQTT broker.

topics         names and filters of topics
templates      texts with names in braces: filled in, or found in a text
messages       what comes and what goes, as values; how a request is read
line           messages in the order in which they came, a bounded number of them in work
conversation   requests and their answers; no socket is needed
subscriptions  those of clients: durable, with a lease
mapping        topics that mean an update, and answers that mean topics, from an application profile
mirror         the rows of an answer as retained messages
link           the connection to the MQTT broker: paho, in a thread of its own
gate           all of it together
"""
