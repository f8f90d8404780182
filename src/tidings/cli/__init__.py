"""The command line: `tidings COMMAND …`. It imports only the module of that command, so that it starts quickly."""

import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from tidings import __version__
from tidings.cli.input.arguments import Parser, UsageError
from tidings.model.likeness import did_you_mean

DATA = {
    "query": "ask a question, of the broker or of RDF files",
    "update": "change data, at the broker or in RDF files",
    "subscribe": "follow an answer of the broker as it changes",
    "load": "send RDF files to the broker",
    "dump": "get all data of the broker, or one graph",
    "agents": "run the updates and queries of an application profile",
    "explain": "see how the broker keeps an answer up to date",
    "watch": "subscribe on RDF files, and see which rows come and go",
    "match": "find events that mean what you asked for, in other words",
    "mcp": "serve a software agent over stdin and stdout",
    "convert": "turn one RDF format into another",
    "city": "write the demonstration city",
    "esa": "build an index of what words are about, and relate phrases by it",
}
OPERATION = {
    "serve": "run the broker",
    "certificates": "make certificates to try TLS with",
    "login": "log in to a broker that asks who you are",
    "logout": "log out, and forget your credentials",
    "status": "see the state of the broker",
    "subscriptions": "see who has subscribed to what",
    "delayed": "see which updates wait for their time, and cancel them",
    "log": "read the commits of the broker, and follow them",
    "reconcile": "find what others changed in the endpoint behind the broker",
    "doctor": "see what is installed, and whether a broker can run here",
    "repair": "make a damaged data folder usable again",
    "history": "keep every change in a lake, and see the graph as it was",
    "stream": "run subscriptions on Spark, as many as it takes",
    "bench": "measure brokers, one or several side by side",
    "completion": "print a script that lets a shell complete commands and options",
}
SECURITY = {
    "clients": "see, add, change and remove clients of a broker with security",
    "grants": "see and change who may do what at a broker with security",
    "keys": "see and change the keys that tokens are signed with",
}
COMMANDS = DATA | OPERATION | SECURITY
EXAMPLES = """\
a first walk:
  tidings city --factor 0.01 --output city.nt
  tidings query --data city.nt 'SELECT * WHERE { ?s ?p ?o } LIMIT 5'
  tidings serve
and, while that runs, in another window:
  tidings load city.nt
  tidings query 'SELECT * WHERE { ?s ?p ?o } LIMIT 5'
"""


def parser() -> Parser:
    lines = "\n".join(f"  {name:15}{summary}" for name, summary in COMMANDS.items())
    top = Parser(
        "tidings",
        "Publish SPARQL updates, subscribe with SPARQL queries, get exactly what changed.",
        f"commands:\n{lines}\n\n{EXAMPLES}\n`tidings COMMAND --help` says more about a command.",
        usage="tidings COMMAND [OPTION…]",
    )
    top.add_argument("--version", action="version", version=f"tidings {__version__}")
    top.add_argument("command", metavar="COMMAND", nargs="?", help="one of the commands below")
    top.add_argument("rest", nargs="...", metavar="…", help="its options and arguments")
    return top


def command(name: str | None) -> ModuleType:
    """The module of a command, which has `parser()` and `run(arguments)`."""
    if name is None:
        raise UsageError(f"say what to do: {', '.join(COMMANDS)} (see tidings --help)")
    if name not in COMMANDS:
        meant = did_you_mean([name], COMMANDS) or f", only {', '.join(COMMANDS)}"
        raise UsageError(f"there is no command {name!r}{meant} (see tidings --help)")
    room = "data" if name in DATA else "security" if name in SECURITY else "operation"
    return import_module(f"tidings.cli.commands.{room}.{name}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0, 1 for a failure, or 2 for invalid arguments."""
    from tidings.model.errors import TidingsError
    from tidings.sparql.nesting import allow_nesting

    allow_nesting()
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from tidings.cli.output.writing import reserve

        reserve()
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # httpx's command line imports slowly
    try:
        top = parser().parse_args(argv)
        module = command(top.command)
        code: int = module.run(module.parser().parse_intermixed_args(top.rest))
        sys.stdout.flush()
    except TidingsError as error:
        from tidings.cli.output.complaint import complain

        return complain(error)
    except OSError as error:
        from tidings.cli.output.complaint import complain
        from tidings.cli.output.writing import give_up_stdout, output_trouble

        if isinstance(error, BrokenPipeError):  # whoever read our output has had enough
            give_up_stdout()
            return 128 + 13
        if (trouble := output_trouble(error)) is None:
            raise
        give_up_stdout()
        return complain(trouble)
    except KeyboardInterrupt:
        return 128 + 2
    return code
