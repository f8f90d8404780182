"""The subscriptions of a job: the requests for them, the unit of each, and the quads it begins with.

requests      reads the requests, from a file or from a broker
request_file  writes that file
registrar     assigns a unit to each subscription
registry      the subscriptions, and from which commit to which each lasts: versions in a folder
enrolling     begins subscriptions: with their units, and the quads that concern them
seeding       writes these quads to files
"""
