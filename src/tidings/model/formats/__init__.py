"""Bytes to values and back: RDF documents and SPARQL results, without any file or network in sight.

Read `rdf` and `results.documents` first, the two doors; `media` finds and negotiates formats for both.
"""
