"""SPARQL 1.1 text to algebra: recursive descent over the tokens of one regular expression.

tokens       text -> tokens, and the place of a token for error messages
cursor       the token being read, prefixes and base, terms
triples      triples blocks: in patterns, templates and data
paths        property paths
expressions  operators, functions, aggregates
patterns     group graph patterns
query        SELECT, ASK, CONSTRUCT, DESCRIBE
update       the eleven operations and `;`
"""

from tidings.sparql.parser.query import parse_query
from tidings.sparql.parser.update import parse_update

__all__ = ["parse_query", "parse_update"]
