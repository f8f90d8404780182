"""The command line in a shell, as people have it: `tidings` is a program, and there may be a broker."""

import os
import stat
import subprocess
from pathlib import Path

from forking import process as forking
from gates.wire import Broker
from tidings import cli
from tidings.cli import COMMANDS, SECURITY
from tidings.log.folder import Folder
from waiting import WHOLE

AT_BROKER = {"subscribe", "load", "dump", "status", "subscriptions", "delayed", "log", "agents"}
AT_SECURED = {"login", "logout"}
"""Their examples are run at a broker that asks who they are: tests/cli/test_login.py."""
ADMINISTERING = set(SECURITY)
"""Theirs are run one after the other, by an administrator: tests/cli/test_administration.py."""
WITH_ENDPOINT = {"reconcile"}
"""Theirs are run at a broker with an endpoint behind it: tests/endpoint/test_serving.py."""
FOR_AGENTS = {"mcp"}
"""Theirs are run at a broker that serves agents: tests/test_docs.py."""
EITHER = {"query", "update", "explain"}
ON_SPARK = {"history", "stream", "esa"}
"""Their examples are run together, in one session: tests/spark/test_examples.py."""
HERE = ("--data", "--graph-data", "--empty", "--allow-load")
ONE = "http://tidings.example/lighting#"
JSAP = (Path(__file__).parents[2] / "docs/jsap.md").read_text()
CHAT = JSAP.partition("```json\n")[2].partition("```")[0]
"""The profile of the documentation, `chat.jsap`."""


def helps() -> list[str]:
    return [cli.parser().format_help(), *(cli.command(name).parser().format_help() for name in COMMANDS)]


EXAMPLES = [
    line.strip()
    for text in helps()
    for line in text.splitlines()
    if line.startswith("  ") and "tidings" in line.split() and "usage" not in line and not line.lstrip().startswith("-")
]


def command_of(example: str) -> str:
    words = example.split()
    return words[words.index("tidings") + 1]


def needs_broker(example: str) -> bool:
    """Whether an example of the help is for a running broker."""
    words, name = example.split(), command_of(example)
    return name in AT_BROKER or (name in EITHER and not any(option in words for option in HERE))


def runs_alone(example: str) -> bool:
    """Whether an example ends by itself, and needs nothing but files."""
    elsewhere = ON_SPARK | AT_SECURED | ADMINISTERING | WITH_ENDPOINT | FOR_AGENTS
    return "tidings serve" not in example and not needs_broker(example) and command_of(example) not in elsewhere


def furnish(folder: Path) -> None:
    """The files that examples speak of."""
    (folder / "lamps.rq").write_text(f"SELECT ?lamp {{ ?lamp a <{ONE}Lamp> }}")
    (folder / "lights-out.ru").write_text(
        f"PREFIX : <{ONE}> DELETE {{ ?l :hasStatus :ON }} INSERT {{ ?l :hasStatus :OFF }} WHERE {{ ?l :hasStatus :ON }}"
    )
    (folder / "chat.jsap").write_text(CHAT)
    (folder / "streets.toml").write_text(
        '[[grant]]\nto = "role:streets"\nsubscribe = ["http://example.org/streets/*"]\n'
    )
    (folder / "parking.jsonl").write_text(
        '{"event": "parking place vacant", "city": "Galway", "free parking": 3}\n'
        '{"event": "parking space occupied", "city": "Dublin", "free parking": 0}\n'
    )
    Folder(folder / "folder").release()
    assert cli.main(["city", "--factor", "0.01", "--output", str(folder / "city.nt")]) == 0


def shell(script: str, folder: Path, broker: Broker | None = None) -> subprocess.CompletedProcess[str]:
    """Run a script of bash in a folder. Addresses of a broker in it become those of this one."""
    programs = folder / ".programs"
    programs.mkdir(exist_ok=True)
    program = programs / "tidings"
    program.write_text(f'#!/bin/sh\nexec {forking.command()} "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    # Whether the usual ports are free here is nothing that `tidings doctor` should depend on.
    ports = {"TIDINGS_HTTP_PORT": "0", "TIDINGS_WS_PORT": "0"}
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"} | ports
    if broker is not None:
        environment |= {"TIDINGS_HTTP": broker.http, "TIDINGS_WS": broker.ws}
        script = script.replace("localhost:8000", broker.http.removeprefix("http://"))
        script = script.replace("chat.jsap ", f"chat.jsap --http {broker.http} ")  # it names the usual ports
    return subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=WHOLE,
        check=False,
    )
