"""The addresses of the broker: from options, else from the environment, else on this machine."""

import os
from argparse import Namespace
from dataclasses import replace

from tidings.cli.input.arguments import HTTP, UsageError
from tidings.client.login.environment import trusted
from tidings.client.trust import Trust

WS = "ws://localhost:9000/subscribe"


def http_of(arguments: Namespace) -> str:
    """The address for HTTP, without a slash at its end."""
    return _checked(arguments.http or os.environ.get("TIDINGS_HTTP") or HTTP, "http")


def ws_of(arguments: Namespace) -> str:
    """The address for subscriptions. If only the HTTP address is given, the broker there tells the other one."""
    environment = os.environ
    if not arguments.ws and arguments.http:
        return http_of(arguments)
    if given := arguments.ws or environment.get("TIDINGS_WS"):
        return _checked(given, "ws")
    return http_of(arguments) if environment.get("TIDINGS_HTTP") else WS


def trust_of(arguments: Namespace) -> Trust:
    """The trusted authority for TLS, and the client's certificate, which comes only from the environment."""
    return trusted() if arguments.ca is None else replace(trusted(), ca=arguments.ca)


def _checked(url: str, scheme: str) -> str:
    if not url.startswith((f"{scheme}://", f"{scheme}s://")):
        raise UsageError(f"{url!r} is no address of a broker; it starts with {scheme}:// or {scheme}s://")
    return url.rstrip("/")
