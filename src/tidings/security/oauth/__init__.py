"""The authorisation server: OAuth 2.0 client credentials (RFC 6749), revocation (RFC 7009), metadata (RFC 8414), and
the registration and token requests of the SPARQL 1.1 Secure Event protocol.

requests   bytes and headers to what is asked for
server     what is asked for to answers
"""
