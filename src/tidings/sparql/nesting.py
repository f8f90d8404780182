"""How deep requests may be nested.

Each OPTIONAL, BIND, MINUS or GRAPH of a group is evaluated on top of those before it, so hundreds of them are hundreds
of calls within each other, for which Python's own limit leaves little room.
"""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tidings.model.errors import BadRequest

DEEPEST = 6_000
"""Calls within each other."""
_BYTES = 1_200
"""Of the stack, for each of them: three times what is measured for generators within generators."""


def allow_nesting() -> None:
    """Let this process follow a thousand elements of one group, as far as its stack allows. For programs to call, once:
    a library must not."""
    stack, _ = resource.getrlimit(resource.RLIMIT_STACK)
    deepest = DEEPEST if stack == resource.RLIM_INFINITY else min(DEEPEST, stack // _BYTES)
    sys.setrecursionlimit(max(sys.getrecursionlimit(), deepest))


@contextmanager
def followed() -> Iterator[None]:
    """Within, what is nested deeper than that is an error of the request."""
    try:
        yield
    except RecursionError:
        raise BadRequest("the request is nested too deeply") from None
