"""Authentication of a client at a broker with security: its credentials, and how it gets and shows tokens.

credentials   the credentials of an application: an id with its secret, a token, or a file with them
login         the login at one broker: decides which request comes next, until there is a token
turn          a lock for threads and for tasks of any event loop
bearer        adds the token to each request over HTTP
showing       shows the token on a WebSocket
addresses     the broker that an address belongs to; passwords in addresses, for proxies
kept          credentials in a file
environment   credentials from environment variables and files
"""
