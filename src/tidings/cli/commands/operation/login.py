"""`tidings login`: stores the user's credentials for a broker, for all commands that call it later."""

import sys
from argparse import Namespace
from getpass import getpass
from ipaddress import ip_address

from tidings.cli.input.addresses import http_of, trust_of
from tidings.cli.input.arguments import Parser, UsageError, add_address
from tidings.cli.input.identity import read_secret
from tidings.client.http import HttpClient
from tidings.client.login.addresses import Host, broker_of, host_of
from tidings.client.login.credentials import Credentials, CredentialsFile
from tidings.client.login.environment import login_path
from tidings.client.login.kept import Kept, write_kept
from tidings.client.login.login import Login

DESCRIPTION = """\
Log in to a broker that asks everybody who they are. The id and the secret of your client, and the token that it has for
now, are kept in a file that only you can read, ~/.config/tidings/logins (or below XDG_CONFIG_HOME). All other commands
show the token at this broker, and get another one when it expires. With --register, the broker makes the client, if it
lets this identity register; nobody sees the secret then."""
EXAMPLES = """\
examples:
  tidings login --id admin --secret-file tidings-data/admin.secret
  tidings login --http https://localhost:8443 --ca tidings-certificates/ca.pem --id lamp-1 --register
"""


def parser() -> Parser:
    result = Parser("tidings login", DESCRIPTION, EXAMPLES)
    add_address(result)
    result.add_argument("--id", metavar="NAME", help="the id of your client (else asked for, on a terminal)")
    how = result.add_mutually_exclusive_group()
    how.add_argument("--secret-file", metavar="FILE", help="read the secret from a file; `-` is stdin (else asked for)")
    how.add_argument("--register", action="store_true", help="register this identity first")
    return result


def run(arguments: Namespace) -> int:
    url = http_of(arguments)
    broker, path = broker_of(url), login_path(url)
    _warn_of_eavesdroppers(host_of(url))
    name = arguments.id or _asked("id")
    if arguments.register:
        if path.exists():
            raise UsageError(f"somebody is logged in to {broker} already: tidings logout")
        login = Login(CredentialsFile(path, name), broker)
    else:
        secret = read_secret(arguments.secret_file) if arguments.secret_file else _asked("secret", hidden=True)
        login = Login(Credentials(name, secret), broker)
    with HttpClient(broker, trust=trust_of(arguments)) as calls:
        calls.log_in(login)
    if not arguments.register:
        write_kept(path, Kept(name, secret, login.token.text, login.token.due))
    print(f"logged in to {broker} as {name}; tidings logout ends it")
    return 0


def _asked(what: str, *, hidden: bool = False) -> str:
    """What the user types, or the first line of stdin. Raises UsageError."""
    if not sys.stdin.isatty():
        if not hidden:
            raise UsageError("say who you are: --id")
        return read_secret("-")
    answer = getpass("secret: ") if hidden else input(f"{what}: ")
    if not answer.strip():
        raise UsageError(f"there is no {what}")
    return answer.strip()


def _warn_of_eavesdroppers(host: Host) -> None:
    """Warn that without TLS, others on the network can read the secret."""
    try:
        local = ip_address(host.name).is_loopback
    except ValueError:
        local = host.name == "localhost" or host.name.endswith(".localhost")
    if not host.secure and not local:
        print(
            f"tidings: warning: the way to {host.name} is not encrypted, and others may hear the secret",
            file=sys.stderr,
        )
