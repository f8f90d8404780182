"""Oxigraph: keeps the lexical forms of few numbers (`01` becomes `1`); its blank nodes cannot be named in an update."""

from tidings.endpoint.dialects.dialect import Dialect

OXIGRAPH = Dialect("oxigraph", signature="oxigraph", request_bytes=16 << 20, asked=1_000, tests=True, tables=True)
