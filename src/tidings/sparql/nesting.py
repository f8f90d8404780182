"""Limits how deep requests may be nested.

The plan of each OPTIONAL, BIND, MINUS or GRAPH of a group calls the plan of the elements before it, so hundreds of
elements are hundreds of nested calls, and Python's default recursion limit is too low for many of them.
"""

import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tidings.model.errors import BadRequest

DEEPEST = 6_000
"""Nested calls."""
_BYTES = 1_200
"""Bytes of the stack for each nested call: three times the measured size of nested generators."""


def allow_nesting() -> None:
    """Raise Python's recursion limit for a thousand elements of one group, as far as the stack of the process allows.
    Only programs may call it, once; a library must not change a setting of the whole process."""
    stack, _ = resource.getrlimit(resource.RLIMIT_STACK)
    deepest = DEEPEST if stack == resource.RLIM_INFINITY else min(DEEPEST, stack // _BYTES)
    sys.setrecursionlimit(max(sys.getrecursionlimit(), deepest))


@contextmanager
def followed() -> Iterator[None]:
    """Turn a RecursionError of the code within into a BadRequest."""
    try:
        yield
    except RecursionError:
        raise BadRequest("the request is nested too deeply") from None
