"""Parsers and serializers of RDF documents and SPARQL results, from bytes and to bytes, without any input or output.

Read `rdf` and `results.documents` first, the two entry points; `media` finds and negotiates formats for both.
"""
