"""`tidings serve`: the broker, with its settings from flags, the environment and a file."""

import os
from argparse import Namespace
from pathlib import Path

from tidings import app
from tidings.cli.arguments import Parser
from tidings.cli.loading import Document, read
from tidings.config import ENVIRONMENT, SETTINGS, Settings, read_settings
from tidings.engine.core import Core
from tidings.files import rdf_format

DESCRIPTION = f"""\
Answer the SPARQL 1.1 Protocol over HTTP until told to stop (Ctrl+C, SIGTERM). What is published lives in memory.
Every setting can come from a flag, from the environment ({ENVIRONMENT}PORT=9000) or from a TOML file (port = 9000); the
first of these wins."""
EXAMPLES = """\
examples:
  tidings serve
  tidings serve --data city.nt --port 9000 --read-only
  tidings serve --config tidings.toml --host 0.0.0.0
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
    settings = read_settings(vars(arguments), os.environ, arguments.config)
    files = [Document(name, rdf_format(name)) for name in settings.data]
    core = app.build_core(settings)
    for document in files:
        for s, p, o, g in read(document, settings.base, quiet=False):
            core.store.add(s, p, o, g)
    app.serve(core, settings, lambda address: print(greeting(address, core, settings), flush=True))
    return 0


def greeting(address: str, core: Core, settings: Settings) -> str:
    """What is served, where, and how to try it."""
    offers = "queries" if settings.read_only else "queries and updates"
    return (
        f"Tidings answers {offers} at {address}/sparql, on {len(core.store):,} quads\n"
        f"  try:  curl {address}/query --data-urlencode 'query=SELECT * WHERE {{ ?s ?p ?o }} LIMIT 3'\n"
        f"  stop: Ctrl+C"
    )
