"""Arguments that several commands have in common."""

import argparse
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from tidings.model.errors import BadRequest
from tidings.model.likeness import did_you_mean

HTTP = "http://localhost:8000"
_CHOICE = re.compile(r"argument (.+?): invalid choice: '(.*?)' ")


class UsageError(BadRequest):
    """The arguments of a command are invalid."""

    code = "usage"


class Parser(argparse.ArgumentParser):
    """An argument parser whose help has examples, and whose errors are one line."""

    def __init__(self, prog: str, description: str, epilog: str, usage: str | None = None) -> None:
        super().__init__(
            prog=prog,
            usage=usage,
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}{self._meant(message)} (see {self.prog} --help)")

    def _meant(self, message: str) -> str:
        """A suggestion of options and words similar to the unknown ones in a message."""
        if choice := _CHOICE.search(message):
            words = (action.choices or () for action in self._actions if choice[1] in _names(action))
            return did_you_mean([choice[2]], (str(word) for known in words for word in known))
        unknown = message.partition("unrecognized arguments: ")[2].split()
        options = [word.partition("=")[0] for word in unknown if word.startswith("-")]
        return did_you_mean(options, (name for action in self._actions for name in action.option_strings))


def _names(action: argparse.Action) -> tuple[object, ...]:
    """The names of an argument in argparse's messages."""
    return "/".join(action.option_strings), action.metavar, action.dest


def add_data(parser: Parser) -> None:
    """Add the options that name RDF files."""
    group = parser.add_argument_group("data")
    group.add_argument("--data", "-d", metavar="FILE", action="append", default=[], help="RDF file; `-` is stdin")
    group.add_argument(
        "--graph-data", metavar="IRI=FILE", action="append", default=[], help="RDF file, for the graph of this name"
    )
    group.add_argument("--data-format", metavar="NAME", help="format of the files, if their names do not tell")
    group.add_argument("--base", metavar="IRI", help="what relative IRIs are relative to, in data and text")
    group.add_argument("--quiet", "-q", action="store_true", help="say nothing on stderr but errors")


def add_here(parser: Parser) -> None:
    """Add --empty, for commands that call a broker unless the user names files."""
    parser.add_argument("--empty", action="store_true", help="work locally, on no data, instead of asking the broker")


def is_here(arguments: argparse.Namespace) -> bool:
    """Whether a command works on files, and not at a broker."""
    return bool(arguments.data or arguments.graph_data or arguments.empty)


def only_here(arguments: argparse.Namespace, *names: str) -> None:
    """Raise UsageError for options that only work on files."""
    for name in names:
        if getattr(arguments, name):
            raise UsageError(f"--{name.replace('_', '-')} goes with --data; this call is for the broker")


def add_broker(parser: Parser, *, subscribes: bool = False) -> None:
    """Add the options for the broker's address, for how long to wait for it, and for credentials."""
    add_address(parser, subscribes=subscribes).add_argument(
        "--wait",
        metavar="SECONDS",
        type=seconds,
        default=0.0,
        help="how long to wait for a broker that is not there yet",
    )
    add_identity(parser)


def add_address(parser: Parser, *, subscribes: bool = False) -> "argparse._ArgumentGroup":
    """Add the options for the broker's address; their group."""
    group = parser.add_argument_group("broker")
    group.add_argument("--http", metavar="URL", help=f"where it is (TIDINGS_HTTP, or {HTTP})")
    group.add_argument("--ca", metavar="FILE", help="authorities to trust over TLS (TIDINGS_CA, or the system's)")
    if subscribes:
        group.add_argument("--ws", metavar="URL", help="its address for subscriptions (TIDINGS_WS, or it says so)")
    return group


def add_identity(parser: Parser) -> None:
    """Add the options for credentials."""
    group = parser.add_argument_group("identity, unless you have logged in with tidings login")
    group.add_argument("--token", metavar="TOKEN", help="a token (TIDINGS_TOKEN, which lists of processes do not show)")
    group.add_argument("--client-id", metavar="ID", help="who you are (TIDINGS_CLIENT_ID)")
    group.add_argument(
        "--client-secret-file", metavar="FILE", help="a file with your secret; `-` is stdin (TIDINGS_CLIENT_SECRET)"
    )


def add_settings(parser: Parser, *names: str) -> None:
    """Add a flag for each of these settings, or for all settings. A flag that is not given is None."""
    from tidings.server.config import SETTINGS

    for setting in SETTINGS:
        if names and setting.name not in names:
            continue
        flag = "--" + setting.name.replace("_", "-")
        text = setting.metadata["help"]
        if setting.type is bool:
            parser.add_argument(flag, nargs="?", const=True, metavar="on|off", help=text)
        elif isinstance(setting.default, tuple):
            parser.add_argument(flag, action="append", metavar=setting.metadata["shown"], help=text)
        else:
            text = text if setting.default is None else f"{text} (default {setting.default})"
            parser.add_argument(flag, metavar=setting.metadata["shown"], help=text)


def add_text(parser: Parser, what: str) -> None:
    """Add the argument and the option for the text of the request."""
    parser.add_argument("text", metavar=what.upper(), nargs="?", help=f"the {what}; `@FILE` reads a file, `-` stdin")
    parser.add_argument("--file", "-f", metavar="FILE", help=f"read the {what} from a file")


def add_limits(parser: Parser) -> None:
    """Add the options for the time limit and the row limit."""
    group = parser.add_argument_group("limits")
    group.add_argument("--timeout", metavar="SECONDS", type=seconds, help="give up after so many seconds")
    group.add_argument("--max-rows", metavar="N", type=count, help="give up when there are more rows than that")


def seconds(text: str) -> float:
    with suppress(ValueError):
        if 0 < (value := float(text)) < float("inf"):
            return value
    raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")


def whole(text: str) -> int:
    with suppress(ValueError):
        if (value := int(text)) >= 0:
            return value
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 0 or more")


def count(text: str) -> int:
    with suppress(ValueError):
        if (value := int(text)) >= 1:
            return value
    raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 1 or more")


def fraction(text: str) -> float:
    with suppress(ValueError):
        if 0 <= (value := float(text)) <= 1:
            return value
    raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")


def pair(text: str) -> tuple[str, str]:
    """`NAME=VALUE`; the name may contain equals signs, as IRIs do."""
    name, equals, value = text.rpartition("=")
    if not equals or not name or not value:
        raise UsageError(f"{text!r} is not of the form IRI=FILE")
    return name, value


def read_text(arguments: argparse.Namespace, what: str) -> str:
    """The text of the request, from the argument, a file or stdin."""
    if (arguments.text is None) == (arguments.file is None):
        raise UsageError(f"give one {what}: as an argument, with --file, or `-` for stdin")
    text = f"@{arguments.file}" if arguments.file is not None else str(arguments.text)
    try:
        if text.startswith("@"):
            return Path(text[1:]).read_text("utf-8-sig")
        if text == "-":
            return sys.stdin.buffer.read().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{text[1:]}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the {what} is not UTF-8: {error}") from error
    return text
