"""The user's credentials for a broker: from options, else from the environment, else from `tidings login`."""

import os
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

from tidings.cli.input.addresses import http_of, trust_of
from tidings.cli.input.arguments import UsageError
from tidings.client.http import HttpClient
from tidings.client.login.addresses import broker_of, host_of, origin_of
from tidings.client.login.credentials import Credentials, CredentialsFile, Shown, Token
from tidings.client.login.environment import CA, FILE, ID, SECRET, TOKEN, shown_at


def calling(arguments: Namespace, *, seconds: float | None = None, endless: bool = False) -> HttpClient:
    """An HTTP client for the broker of the options."""
    url = http_of(arguments)
    shown = shown_of(arguments, url)
    return HttpClient(
        url, seconds=seconds, endless=endless, wait=arguments.wait, trust=trust_of(arguments), credentials=shown
    )


def shown_of(arguments: Namespace, url: str) -> Shown | None:
    """The credentials for an address of the broker, if any. Raises UsageError, BadCredentials."""
    home = http_of(arguments)
    if host_of(url) != host_of(home):
        home = broker_of(url)
    shown = given_at(arguments, home)
    if isinstance(shown, Credentials | CredentialsFile) and shown.token_url is None:
        return replace(shown, token_url=f"{broker_of(home)}/oauth/token")
    return shown


def given_at(arguments: Namespace, url: str) -> Shown | None:
    """The same, without the address of the server that issues tokens."""
    return _given(arguments) or shown_at(url)


def _given(arguments: Namespace) -> Shown | None:
    """The credentials in the options or the environment."""
    if arguments.token is not None:
        if arguments.client_id is not None or arguments.client_secret_file is not None:
            raise UsageError("a token needs no credentials: give --token, or --client-id and --client-secret-file")
        return Token(arguments.token)
    if arguments.client_id is None:
        if arguments.client_secret_file is not None:
            raise UsageError("say whose secret it is: --client-id")
        return None
    if arguments.client_secret_file is not None:
        return Credentials(arguments.client_id, read_secret(arguments.client_secret_file))
    if secret := os.environ.get(SECRET):
        return Credentials(arguments.client_id, secret)
    raise UsageError(f"the secret of {arguments.client_id} is missing: give --client-secret-file, or set {SECRET}")


def read_secret(name: str) -> str:
    """The first line of a file, or of stdin (`-`). Raises UsageError."""
    try:
        lines = (sys.stdin.read() if name == "-" else Path(name).read_text("utf-8")).splitlines()
    except OSError as error:
        raise UsageError(f"{name}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise UsageError(f"{name} has no secret that is text") from None
    if not lines or not lines[0].strip():
        raise UsageError(f"{name} has no secret in its first line")
    return lines[0].strip()


def lend(arguments: Namespace, *urls: str | None) -> None:
    """Pass the credentials to Spark tasks through the environment, because Spark logs the options of a job."""
    brokers = {origin_of(url) for url in urls if url is not None and url.startswith(("http://", "https://"))}
    given = _given(arguments)
    if given is not None and len(brokers) > 1:
        raise UsageError("these are two brokers: log in to each of them with `tidings login`")
    environment = os.environ
    if arguments.ca is not None:
        environment[CA] = str(Path(arguments.ca).absolute())
    if given is not None:
        for name in (TOKEN, ID, SECRET, FILE):
            environment.pop(name, None)
    if isinstance(given, Token):
        environment[TOKEN] = given.text
    elif isinstance(given, Credentials):
        environment[ID], environment[SECRET] = given.id, given.secret
