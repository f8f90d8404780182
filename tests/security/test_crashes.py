"""The broker is killed while clients register: whoever was answered is registered, and nobody is by half."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from security import registrar
from waiting import asynchronous

KILLS = 4


def killed(folder: Path, first: int, answers: int) -> dict[str, str]:
    """Secrets of those who were answered, by a process that is killed after so many answers."""
    secrets: dict[str, str] = {}
    command = [sys.executable, str(Path(registrar.__file__)), str(folder), str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said = json.loads(line)
            secrets[said["client"]] = said["secret"]
            if len(secrets) >= answers:
                process.kill()
    assert len(secrets) >= answers
    return secrets


@pytest.mark.server
@asynchronous
async def test_a_client_that_was_registered_survives_a_kill_and_its_key_does_as_well(tmp_path: Path) -> None:
    chance = random.Random(20261115)
    secrets: dict[str, str] = {}
    for kill in range(KILLS):
        secrets |= killed(tmp_path, 1_000_000 * kill, chance.randrange(1, 40))
    async with registrar.opened(tmp_path) as (broker, authority):
        clients = list(authority.credentials)
        assert secrets.keys() <= {client.id for client in clients}
        assert len(clients) <= len(secrets) + KILLS, "at most one at a time was not answered"
        assert all(client.hash.startswith("$argon2id$") and client.generation for client in clients)
        for name, secret in secrets.items():
            assert (await authority.credentials.authenticate(name, secret)).id == name
        assert len(authority.server.jwks().content["keys"]) == 1, "the first key signs through all of it"
        assert len(broker.store) >= len(secrets) - KILLS
    text = b"".join(path.read_bytes() for path in tmp_path.rglob("*.jsonl"))
    assert b"client_registered" in text
    assert not any(secret.encode() in text for secret in secrets.values())
    assert b'"d":' not in text
