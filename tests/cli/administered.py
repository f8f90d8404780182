"""A broker with security in a process of its own, and the token of its first administrator."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gates.wire import Broker, serving
from plain import calls
from waiting import PATIENCE


@contextmanager
def administered(folder: Path) -> Iterator[tuple[Broker, str]]:
    with serving(folder, "--secure", "--token-seconds", "3600") as broker:
        yield broker, token_of(broker, "admin", (folder / "tidings-data" / "admin.secret").read_text().strip())


def token_of(broker: Broker, name: str, secret: str) -> str:
    answer = calls.post(f"{broker.http}/oauth/token", auth=(name, secret), timeout=PATIENCE)
    assert answer.status_code == 201, answer.text
    token = answer.json()["access_token"]
    assert isinstance(token, str)
    return token
