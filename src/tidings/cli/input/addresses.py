"""Where the broker of a call is: options, then the environment, then this machine."""

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
    """The address for subscriptions. An HTTP address that somebody gave will do: it says where the other one is."""
    environment = os.environ
    if not arguments.ws and arguments.http:
        return http_of(arguments)
    if given := arguments.ws or environment.get("TIDINGS_WS"):
        return _checked(given, "ws")
    return http_of(arguments) if environment.get("TIDINGS_HTTP") else WS


def trust_of(arguments: Namespace) -> Trust:
    """Whom to believe over TLS, and the certificate to show; that is for the environment, as passwords are."""
    return trusted() if arguments.ca is None else replace(trusted(), ca=arguments.ca)


def _checked(url: str, scheme: str) -> str:
    if not url.startswith((f"{scheme}://", f"{scheme}s://")):
        raise UsageError(f"{url!r} is no address of a broker; it starts with {scheme}:// or {scheme}s://")
    return url.rstrip("/")
