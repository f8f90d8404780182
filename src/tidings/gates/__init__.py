"""Where requests come in: each gate turns bytes into a request of the protocol, and an answer into bytes.

asking     the guard, which says who sends a request and what that client may do
figures    figures for /status and /metrics that parts other than the broker count
gate       the interface of a gate that can be switched on; premises holds what all gates share
caller     one client of such a gate, with the methods of the broker that it may use
answers    outcomes of the broker as answers of the protocol
peer       the address and certificate of a client; forwarding reads the address that a trusted proxy reports
quotas     how many requests, updates and connections one client may have
visitors   which Host and Origin headers a gate accepts
websocket  the Subscribe language: gate, connection (the socket), conversation (requests and answers);
           upgrade is for WebSockets that begin at the HTTP port
mqtt       devices at the site's own MQTT broker: requests, mapped topics, answers as topics
coap       devices over UDP: requests, and answers that are observed
webhooks   subscriptions that outlive every connection, delivered to a URL
ldn        Linked Data Notifications: an inbox, on paths of the HTTP gate
mcp        software agents: tools and resources, on a path of the HTTP gate or over stdin and stdout
smart_m3   knowledge processors: SSAP and JSSAP over TCP
http       the SPARQL 1.1 Protocol, and all paths: app first
           connection           one connection of a client; forwarded handles clients behind a proxy
           quick_update         updates without the middleware; updates handles all the others
           results, sending     results in the format that the client asked for, and how they are sent
           limits               limits on the number, size and duration of requests
           graph_store          the Graph Store Protocol: reading and replacing whole graphs
           streaming            responses without an end: event_stream for subscriptions, feed for the log
           security             identification, the authorisation server, changes by administrators
           routing, responses   what all paths have in common
           service_description  describes the service to programs; page is the dashboard
           monitoring           health, subscriptions, delayed updates, status and metrics;
                                openapi describes all paths
"""
