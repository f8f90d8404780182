"""Linked Data Notifications (W3C Recommendation, 2 May 2017).

    POST /inbox/ -> notifications -> triples -> inbox -> one commit: a graph of its own, and a line in the container's

contexts       what `@context` may refer to: nothing is fetched unless that is allowed
notifications  documents as triples, and the constraints that they have to meet
inbox          names of notifications, and the SPARQL that keeps, lists and removes them
discovery      where the inbox of a resource is; activities: what is sent there
receiver       the HTTP side: receiving, listing, discovery; gate is what the process sees of it
"""
