"""Any SPARQL 1.1 endpoint as the store of record behind a broker.

store        THE STORY: what the broker asks for, in requests that the endpoint understands
connection   queries and updates over HTTP, and what can go wrong with them
plain_http   requests over connections that are kept, as fast as most stores answer
dialects     what differs from store to store: a small module each
asking       queries, patterns of updates and contexts, for a broker that has not all of it in memory
writing      states of quads as DELETE DATA and INSERT DATA, in portions
blanks       blank nodes, which SPARQL cannot name, as IRIs and back
paging       rows of which there are more than one answer has
comparing    what differs, found by counts and digests before anything is fetched
digests      the digest of a predicate, in SPARQL and here
spellings    literals that the endpoint spells otherwise
feed         what others change there, as it happens, where the endpoint can say
jpar         addresses of an endpoint as SEPA's configuration files have them
"""
