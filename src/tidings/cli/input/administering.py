"""Calls of administrators at a broker with security: where it is, and the token that they show."""

import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

from tidings.cli.input.addresses import http_of, trust_of
from tidings.cli.input.arguments import Parser, add_broker
from tidings.client.http import HttpClient


def add_administrator(parser: Parser) -> None:
    """Where the broker is, and how to print what it says."""
    add_broker(parser)
    parser.add_argument("--token", metavar="TOKEN", help="the token to show (TIDINGS_TOKEN)")
    parser.add_argument("--json", action="store_true", help="print JSON, a line for each")


@contextmanager
def administering(arguments: Namespace) -> Iterator[HttpClient]:
    with HttpClient(http_of(arguments), trust=trust_of(arguments), token=authorization(arguments)) as calls:
        yield calls


def authorization(arguments: Namespace) -> str | None:
    return arguments.token or os.environ.get("TIDINGS_TOKEN") or None


def segment(name: str) -> str:
    """A name as a part of a path."""
    return quote(name, safe="")
