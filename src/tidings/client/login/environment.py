"""Reads credentials from the environment, for commands, and for tasks of Spark, because Spark logs its options.

TIDINGS_TOKEN                                a token
TIDINGS_CLIENT_ID, TIDINGS_CLIENT_SECRET     credentials
TIDINGS_CREDENTIALS                          a file of credentials
~/.config/tidings/logins                     a file for each broker that the user has logged in to
"""

import os
from pathlib import Path

from tidings.client.login.addresses import broker_of, origin_of
from tidings.client.login.credentials import Credentials, CredentialsFile, Shown, Token
from tidings.client.trust import Trust

TOKEN = "TIDINGS_TOKEN"
ID, SECRET = "TIDINGS_CLIENT_ID", "TIDINGS_CLIENT_SECRET"
FILE = "TIDINGS_CREDENTIALS"
CA, CERTIFICATE, KEY = "TIDINGS_CA", "TIDINGS_CERTIFICATE", "TIDINGS_KEY"
PASSED_ON = (TOKEN, ID, SECRET, FILE, CA, CERTIFICATE, KEY)
"""The variables that processes on other machines need in order to act as this client."""


def shown_at(url: str) -> Shown | None:
    """The credentials for the broker of an address, if there are any. Raises BadCredentials."""
    environment = os.environ
    if token := environment.get(TOKEN):
        return Token(token)
    if environment.get(ID) or environment.get(SECRET):
        return Credentials(environment.get(ID, ""), environment.get(SECRET, ""))
    if file := environment.get(FILE):
        return CredentialsFile(file)
    path = login_path(url)
    return CredentialsFile(path) if path.exists() else None


def trusted() -> Trust:
    """The authorities to trust over TLS, and the client's own certificate."""
    ca, certificate, key = (os.environ.get(name) or None for name in (CA, CERTIFICATE, KEY))
    return Trust(ca=ca, certificate=certificate, key=key)


def login_path(url: str) -> Path:
    """The file for the login at the broker of an address."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    scheme, host, port = origin_of(broker_of(url))
    return Path(home) / "tidings" / "logins" / f"{scheme}_{host.replace(':', '_')}_{port}.json"
