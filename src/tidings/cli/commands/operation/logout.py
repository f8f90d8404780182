"""`tidings logout`: deletes the stored credentials for a broker."""

import sys
from argparse import Namespace

from tidings.cli.input.addresses import http_of, trust_of
from tidings.cli.input.arguments import Parser, UsageError, add_address
from tidings.cli.output.paint import harmless
from tidings.client.http import HttpClient
from tidings.client.login.addresses import broker_of
from tidings.client.login.environment import login_path
from tidings.client.login.kept import Kept, read_kept
from tidings.model.errors import TidingsError

DESCRIPTION = """\
Forget who you are at a broker: your token is revoked, if the broker can be reached, and the file that `tidings login`
made is removed. The client stays registered; whoever has no other copy of its secret cannot log in again."""
EXAMPLES = """\
examples:
  tidings logout
  tidings logout --http https://localhost:8443 --ca tidings-certificates/ca.pem
"""


def parser() -> Parser:
    result = Parser("tidings logout", DESCRIPTION, EXAMPLES)
    add_address(result)
    return result


def run(arguments: Namespace) -> int:
    broker = broker_of(http_of(arguments))
    path = login_path(broker)
    kept = read_kept(path)
    if kept is None:
        raise UsageError(f"nobody is logged in to {broker} here")
    try:
        _revoke(kept, broker, arguments)
    except TidingsError as error:
        print(f"tidings: warning: the token counts until it expires: {harmless(str(error))}", file=sys.stderr)
    path.unlink(missing_ok=True)
    print(f"{kept.client_id} is logged out of {broker}")
    return 0


def _revoke(kept: Kept, broker: str, arguments: Namespace) -> None:
    if kept.token is None:
        return
    form = {"token": kept.token, "client_id": kept.client_id, "client_secret": kept.client_secret}
    with HttpClient(broker, trust=trust_of(arguments)) as calls:
        calls.json("/oauth/revoke", "POST", form=form)
