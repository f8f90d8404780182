"""CoAP (RFC 7252): queries, updates, and answers that can be observed, for devices with little of everything.

content     requests and representations, as values: JSON, CBOR, plain SPARQL
requests    what is asked for, answered; no socket is needed
observing   an answer and those who observe it (RFC 7641): one subscription, however many they are
blocks      long requests and answers (RFC 7959)
site        the resources, for aiocoap, which has retransmission and the sockets
gate        all of it together
"""
