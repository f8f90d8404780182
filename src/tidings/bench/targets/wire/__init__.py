"""The protocols of targets: the SPARQL Protocol and the Subscribe language; and rows in one spelling."""
