"""Who a client is, to a broker that asks: what it has to show, and how it gets a token for that.

credentials   what an application is given: an id with its secret, a token, or a file that has them
login         somebody at one broker: which request comes next, until there is a token
turn          one at a time
bearer        the token in each request over HTTP
showing       the token on a socket
addresses     which broker an address is of; passwords in addresses, for proxies
kept          credentials in a file
environment   what the surroundings of a program say of who it is
"""
