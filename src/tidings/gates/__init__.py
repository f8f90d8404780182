"""Where requests come in: each gate turns bytes into a request of the protocol, and an answer into bytes.

answers    what the broker says, as answers of the protocol
websocket  the Subscribe language: gate, connection (the socket), conversation (requests and answers)
http       the SPARQL 1.1 Protocol, and all paths: app first
           fast_update          the short way in for updates; updates is what both ways do
           results, sending     results in the format that was asked for, and how they are sent
           limits               how many requests, how large, how long; header_timeout is for headers that do not come
           graph_store          whole graphs
           streaming            answers without an end: subscriptions as event_stream, the log as feed
           routing, responses   what all paths have in common
           service_description  the service for programs; page is for people
           monitoring           health, subscriptions, delayed updates; status and metrics are what it counts;
                                openapi describes all paths
"""
