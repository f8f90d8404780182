"""Web hooks: subscriptions without a connection, whose notifications are sent as POST requests to a URL.

hooks      the state of each web hook, as facts of the log
signing    the headers of Standard Webhooks
delivery   delivers the messages of one hook: at least once, in order, with growing pauses
deliveries all web hooks at work
endpoints  /webhooks, where clients make, see and end them; openapi describes it
gate       all of them together
"""
