"""Web hooks: subscriptions that outlive every connection, and are told by POST requests to a URL.

hooks      what there is to know of each, durable in the log
signing    the headers of Standard Webhooks
delivery   one hook at work: at least once, in order, with pauses that grow
endpoints  /webhooks, where they are made, looked at and ended; openapi describes it
gate       all of them together
"""
