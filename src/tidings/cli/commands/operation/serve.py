"""`tidings serve`: runs a broker, with settings from flags, the environment and a file."""

import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from tidings.cli.input.arguments import Parser, add_settings
from tidings.cli.input.loading import Document, read
from tidings.cli.output.greeting import greeting, has_demo
from tidings.cli.output.logs import configure
from tidings.cli.output.writing import give_up_stdout
from tidings.model.terms import Quad
from tidings.server import app
from tidings.server.config import ENVIRONMENT, BadSetting, read_settings
from tidings.server.demo.companion import companion
from tidings.server.demo.town import town
from tidings.server.files import rdf_format

DESCRIPTION = f"""\
Run the broker until told to stop (Ctrl+C, SIGTERM): SPARQL 1.1 queries and updates over HTTP, subscriptions over
WebSocket. What is published is kept in a folder, and is there again at the next start.
Every setting can come from a flag, from the environment ({ENVIRONMENT}HTTP_PORT=8080) or from a TOML file
(http_port = 8080); the first of these wins."""
EXAMPLES = """\
examples:
  tidings serve
  tidings serve --memory --load city.nt
  tidings serve --data /var/lib/tidings --http-port 8080 --health-port 8081
  tidings serve --tls-certificate fullchain.pem --tls-key privkey.pem
  tidings serve --config tidings.toml --log-level info --log-format json
  TIDINGS_MAX_ROWS=10000 tidings serve --timeout 2.5
"""


def parser() -> Parser:
    result = Parser("tidings serve", DESCRIPTION, EXAMPLES)
    result.add_argument("--config", metavar="FILE", type=Path, help="TOML file with settings")
    add_settings(result)
    return result


def run(arguments: Namespace) -> int:
    settings = read_settings(vars(arguments), os.environ, arguments.config)
    if arguments.memory is not None and settings.memory and arguments.data:
        raise BadSetting("--memory and --data contradict each other")
    files = [Document(name, rdf_format(name)) for name in settings.load]
    configure(settings.log_level, settings.log_format)

    def quads() -> Iterator[Quad]:
        for document in files:
            yield from read(document, settings.base, quiet=False)
        if settings.demo and not files:
            yield from town()

    def say(text: str) -> None:
        with suppress(OSError):  # a broker goes on although nobody can be told: its messages may be on a full disk
            print(f"tidings: {text}", file=sys.stderr, flush=True)

    with ExitStack() as companions:

        def announce(opened: app.Opened) -> None:
            try:
                print(greeting(opened, settings), flush=True)
            except OSError as error:  # a disk that is full ends no broker, and that of stdout is not even its own
                give_up_stdout()
                say(f"what it says at the start cannot be written to stdout: {error.strerror}")
            if has_demo(opened, settings) and opened.plain is not None:
                try:
                    companions.enter_context(companion(opened.plain.http, opened.plain.ws))
                except OSError as error:
                    say(f"the demo cannot be started: {error.strerror}")

        app.serve(settings, quads, announce, say)
    return 0
