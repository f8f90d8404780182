"""How stores differ, as values of `Dialect`: known stores have a module each, all others are `GENERIC`."""

from tidings.endpoint.dialects.dialect import GENERIC, Dialect
from tidings.endpoint.dialects.fuseki import FUSEKI
from tidings.endpoint.dialects.oxigraph import OXIGRAPH
from tidings.endpoint.dialects.virtuoso import VIRTUOSO

__all__ = ["DIALECTS", "Dialect", "dialect_of"]

DIALECTS = {each.name: each for each in (GENERIC, OXIGRAPH, FUSEKI, VIRTUOSO)}


def dialect_of(name: str | None, server: str) -> Dialect:
    """The dialect with this name; if there is no name, the one whose signature occurs in `server`, or GENERIC."""
    if name is not None:
        return DIALECTS[name]
    said = server.lower()
    return next((each for each in DIALECTS.values() if each.signature and each.signature in said), GENERIC)
