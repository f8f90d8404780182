"""How targets are spoken to and heard: the SPARQL Protocol, the Subscribe language, rows in one spelling."""
