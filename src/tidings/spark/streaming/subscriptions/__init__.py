"""The subscriptions of a job: the requests for them, the unit of each, and the quads it begins with.

requests      reads requests from a file or from a broker
request_file  writes the file of requests
registrar     assigns a unit to each subscription
registry      the subscriptions, with the commits at which they begin and end: versions in a folder
enrolling     begins subscriptions: assigns units, and publishes their seeds
seeding       finds seeds, the quads that concern new subscriptions, and writes them to files
"""
