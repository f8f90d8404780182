"""Where requests come in: each gate turns bytes into a request of the protocol, and an answer into bytes.

asking     who asks, and what they may do: the guard that every gate asks before anything else
figures    what others than the broker count
gate       what a gate that can be switched on is to the process; premises is what all of them share
caller     one client of such a gate, as the broker meets it
answers    what the broker says, as answers of the protocol
peer       who is at the other end; forwarding is what a trusted proxy says of that
websocket  the Subscribe language: gate, connection (the socket), conversation (requests and answers);
           upgrade is for WebSockets that begin at the HTTP port
mqtt       devices at the site's own MQTT broker: requests, mapped topics, answers as topics
coap       devices over UDP: requests, and answers that are observed
webhooks   subscriptions that outlive every connection, delivered to a URL
ldn        Linked Data Notifications: an inbox, on paths of the HTTP gate
mcp        software agents: tools and resources, on a path of the HTTP gate or over stdin and stdout
smart_m3   knowledge processors: SSAP and JSSAP over TCP
http       the SPARQL 1.1 Protocol, and all paths: app first
           connection           one connection of a client; forwarded is for those that come by a proxy
           quick_update         the short way in for updates; updates is what the long one does
           results, sending     results in the format that was asked for, and how they are sent
           limits               how many requests, how large, how long
           graph_store          whole graphs
           streaming            answers without an end: subscriptions as event_stream, the log as feed
           security             who asks, the authorisation server, changes by administrators
           routing, responses   what all paths have in common
           service_description  the service for programs; page is for people
           monitoring           health, subscriptions, delayed updates; status and metrics are what it counts;
                                openapi describes all paths
"""
