"""Any SPARQL 1.1 endpoint as the store of record behind a broker.

store        THE STORY: what the broker asks for, as requests in the dialect of the endpoint
connection   sends queries and updates over HTTP, and translates failures
plain_http   requests over persistent connections, with less work than httpx
dialects     how stores differ: a small module for each store
asking       queries, patterns of updates and contexts, for a broker without the whole graph in memory
writing      writes states of quads as DELETE DATA and INSERT DATA, in portions
blanks       translates blank nodes, which SPARQL cannot name, to IRIs and back
paging       fetches answers with more rows than the endpoint returns at once
comparing    finds differences by counts and digests, and fetches only what differs
digests      the digest of a predicate, in SPARQL and in Python
spellings    finds literals that the endpoint spells differently
feed         follows the changes of others, if the endpoint has a log
jpar         reads the addresses of an endpoint from SEPA's configuration files
"""
