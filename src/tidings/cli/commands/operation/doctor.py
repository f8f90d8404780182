"""`tidings doctor`: checks the installation and whether this machine can run a broker, and says how to fix problems."""

import os
import shutil
import sys
from argparse import Namespace
from pathlib import Path

from tidings.cli.doctor import packages, page
from tidings.cli.doctor.examination import examine
from tidings.cli.input.arguments import Parser, add_settings
from tidings.cli.output.paint import wants_colour
from tidings.server.config import read_settings

DESCRIPTION = """\
Say what is installed, whether this machine can run a broker with these settings, and what to do about each thing that
is amiss: versions, packages and extras, Java, ports, the data folder and its disk, the history lake, open files,
memory, the clock. Nothing is changed. Settings come from flags, the environment and a TOML file, as for
`tidings serve`. A note is worth knowing; a problem keeps a broker, or a part that is installed, from working. The exit
code is 1 if there is one."""
EXAMPLES = """\
examples:
  tidings doctor
  tidings doctor --data folder --host 0.0.0.0
  TIDINGS_MAX_CONNECTIONS=500 tidings doctor
  tidings doctor --json | head -n 3
"""
ASKED = ("host", "http_port", "ws_port", "data", "memory", "lake", "max_connections")
"""The settings that have a flag here. The command reads all settings from the environment and the file."""


def parser() -> Parser:
    result = Parser("tidings doctor", DESCRIPTION, EXAMPLES)
    result.add_argument("--config", metavar="FILE", type=Path, help="TOML file with settings")
    add_settings(result, *ASKED)
    result.add_argument("--json", action="store_true", help="print it as one JSON document")
    return result


def run(arguments: Namespace) -> int:
    if (python := packages.check_python()).state == "problem":
        findings = [python]  # on this Python, the other checks do not run
        _print(page.document(findings) if arguments.json else "\n".join(page.lines(python, width=None, colour=False)))
        return 1
    findings = []
    width = shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else None
    colour = wants_colour(sys.stdout)
    for finding in examine(read_settings(vars(arguments), os.environ, arguments.config)):
        findings.append(finding)
        if not arguments.json:
            _print("\n".join(page.lines(finding, width=width, colour=colour)))
    _print(page.document(findings) if arguments.json else f"\n{page.total(findings)}")
    return int(any(finding.state == "problem" for finding in findings))


def _print(text: str) -> None:
    """Print in UTF-8, as other commands do, whatever the locale; and flush, because some checks take a moment."""
    sys.stdout.flush()
    sys.stdout.buffer.write(f"{text}\n".encode(errors="backslashreplace"))
    sys.stdout.buffer.flush()
