"""Ports for servers that have to be told theirs, or that are started again where they were.

None of them is one that the system gives to whoever asks for any: between two starts of a server, no connection and no
other server comes to have its port. Tests that run side by side take theirs from different ranges.
"""

import os
import random
import socket
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

HOST = "127.0.0.1"
_FIRST, _LAST = 12_000, 32_000
_EACH = 2_000
"""Ports for one process of tests."""
_GIVEN = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_ports(number: int) -> list[int]:
    """Ports that nobody listens at, and nobody is given by chance."""
    return [next(_free()) for _ in range(number)]


def free_port() -> int:
    return free_ports(1)[0]


@cache
def _free() -> Iterator[int]:
    """Each port once: a server that has ended may be started again."""
    return iter(_found())


def _found() -> Iterator[int]:
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = _FIRST + worker * _EACH % (_LAST - _FIRST)
    own = [port for port in range(first, first + _EACH) if port < _lowest_given()]
    random.shuffle(own)
    yield from (port for port in own if _is_free(port))
    while True:  # a system that gives away all of them
        with socket.socket() as probe:
            probe.bind((HOST, 0))
            port: int = probe.getsockname()[1]
        yield port


def _lowest_given() -> int:
    with suppress(OSError):
        return int(_GIVEN.read_text().split()[0])
    return 32_768


def _is_free(port: int) -> bool:
    """For connections, and for packets."""
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(type=kind) as probe:
            try:
                probe.bind((HOST, port))
            except OSError:
                return False
    return True
