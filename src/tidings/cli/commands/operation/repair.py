"""`tidings repair`: makes the damaged data folder of a broker usable again, and says what was lost."""

from argparse import Namespace
from pathlib import Path

from tidings.cli.input.arguments import Parser
from tidings.log.folder import Folder, check_format
from tidings.log.repair import repair

DESCRIPTION = """\
Make the damaged data folder of a broker usable again: keep the newest sound snapshot and the commits that can be read
on from it, and move everything behind the first damage to DIR/damaged. Nothing is deleted. The broker must not run."""
EXAMPLES = """\
examples:
  tidings repair --data folder --dry-run
  tidings repair --data folder
"""


def parser() -> Parser:
    result = Parser("tidings repair", DESCRIPTION, EXAMPLES)
    result.add_argument("--data", "-d", metavar="DIR", type=Path, required=True, help="the data folder of the broker")
    result.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    return result


def run(arguments: Namespace) -> int:
    check_format(arguments.data)
    with Folder(arguments.data):
        report = repair(arguments.data, dry_run=arguments.dry_run)
    for line in report.lines():
        print(line)
    return 0
