"""What goes over the wire, without a socket: messages, notifications, SPARQL over HTTP, the feed of commits."""
