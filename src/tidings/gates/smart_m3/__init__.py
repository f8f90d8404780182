"""Smart-M3: knowledge processors (KPs) that speak SSAP (XML) or JSSAP (JSON) over TCP.

    bytes -> framing -> ssap_reading | jssap -> messages -> conversation -> Caller -> Broker
    Parcel -> ssap_writing | jssap -> connection -> bytes

messages      requests as values, whichever dialect they came in
rdf_m3        lists of triples and of patterns as SPARQL
framing       splits a stream of bytes into messages
dialects      what the two dialects have in common; ssap_reading, ssap_writing and jssap are the two
statuses      errors with the status codes of Smart-M3
memberships   the KPs that have joined: a KP opens a connection for each of its requests
conversation  one connection: requests in, answers out; it needs no socket
connection    one socket; gate accepts the connections
"""
