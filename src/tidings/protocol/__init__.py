"""The wire formats, without any sockets: messages, notifications, SPARQL over HTTP, the feed of commits."""
