"""`tidings serve`: the broker, with its settings from flags, the environment and a file."""

import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from tidings import app
from tidings.cli.arguments import Parser
from tidings.cli.loading import Document, read
from tidings.cli.logs import configure
from tidings.config import ENVIRONMENT, SETTINGS, BadSetting, Settings, read_settings
from tidings.files import rdf_format
from tidings.model.terms import Quad

DESCRIPTION = f"""\
Run the broker until told to stop (Ctrl+C, SIGTERM): SPARQL 1.1 queries and updates over HTTP, subscriptions over
WebSocket. What is published is kept in a folder, and is there again at the next start.
Every setting can come from a flag, from the environment ({ENVIRONMENT}HTTP_PORT=8080) or from a TOML file
(http_port = 8080); the first of these wins."""
EXAMPLES = """\
examples:
  tidings serve
  tidings serve --memory --load city.nt
  tidings serve --data /var/lib/tidings --host 0.0.0.0 --http-port 80
  tidings serve --config tidings.toml --log-level info --log-format json
  TIDINGS_MAX_ROWS=10000 tidings serve --timeout 2.5
"""


def parser() -> Parser:
    result = Parser("tidings serve", DESCRIPTION, EXAMPLES)
    result.add_argument("--config", metavar="FILE", type=Path, help="TOML file with settings")
    for setting in SETTINGS:
        flag = "--" + setting.name.replace("_", "-")
        text = setting.metadata["help"]
        if setting.type is bool:
            result.add_argument(flag, action="store_true", default=None, help=text)
        elif isinstance(setting.default, tuple):
            result.add_argument(flag, action="append", metavar=setting.metadata["shown"], help=text)
        else:
            text = text if setting.default is None else f"{text} (default {setting.default})"
            result.add_argument(flag, metavar=setting.metadata["shown"], help=text)
    return result


def run(arguments: Namespace) -> int:
    if arguments.memory and arguments.data:
        raise BadSetting("--memory and --data contradict each other")
    settings = read_settings(vars(arguments), os.environ, arguments.config)
    files = [Document(name, rdf_format(name)) for name in settings.load]
    configure(settings.log_level, settings.log_format)

    def quads() -> Iterator[Quad]:
        for document in files:
            yield from read(document, settings.base, quiet=False)

    app.serve(
        settings,
        quads,
        lambda opened: print(greeting(opened, settings), flush=True),
        lambda text: print(f"tidings: {text}", file=sys.stderr, flush=True),
    )
    return 0


def greeting(opened: app.Opened, settings: Settings) -> str:
    """What is served, where, and how to try it."""
    offers = "queries" if settings.read_only else "queries and updates"
    quads = len(opened.broker.engine.core.store)
    where = "in memory only" if settings.memory else f"kept in {settings.data}"
    return (
        f"Tidings answers {offers} at {opened.http}/sparql and subscriptions at {opened.ws}\n"
        f"  {quads:,} quads, {where}\n"
        f"  try:  curl {opened.http}/query --data-urlencode 'query=SELECT * WHERE {{ ?s ?p ?o }} LIMIT 3'\n"
        f"        curl -N '{opened.http}/subscribe?query=SELECT+*+WHERE+%7B?s+?p+?o%7D'\n"
        f"  stop: Ctrl+C"
    )
