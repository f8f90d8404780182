"""Oxigraph: stores numbers, booleans and times by value (`01` becomes `1`); updates cannot name its blank nodes."""

from tidings.endpoint.dialects.dialect import Dialect

OXIGRAPH = Dialect("oxigraph", signature="oxigraph", request_bytes=16 << 20, asked=1_000, tests=True, tables=True)
