"""Linked Data Notifications (W3C Recommendation, 2 May 2017).

    POST /inbox/ -> notifications -> triples -> inbox -> one commit: a graph of its own, and a line in the container's

contexts       the documents that `@context` may refer to; the settings decide whether others may be fetched
notifications  documents as triples, and the constraint that they have to meet
inbox          the names of notifications, and the SPARQL that stores, lists and removes them
discovery      finds the inbox of a resource; activities: the notifications that are sent there
receiver       the HTTP side: receiving, listing, discovery; gate has the interface of a gate
"""
