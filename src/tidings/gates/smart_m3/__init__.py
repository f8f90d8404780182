"""Smart-M3: knowledge processors (KPs) that speak SSAP (XML) or JSSAP (JSON) over TCP.

    bytes -> framing -> ssap_reading | jssap -> messages -> conversation -> Caller -> Broker
    Parcel -> ssap_writing | jssap -> connection -> bytes

messages      requests as values, whichever dialect they came in
rdf_m3        lists of triples and of patterns as SPARQL
framing       where a message ends in a stream that is cut anywhere
dialects      what the two dialects have in common; ssap_reading, ssap_writing and jssap are the two
statuses      errors as the codes that KPs know
memberships   who has joined: a KP opens a connection for each of its requests
conversation  one connection: requests in, answers out; it knows no socket
connection    one socket; gate is where they come in
"""
