"""The chat of the examples: people talk, who is away gets the messages later, and the store is clean after it."""

import asyncio
import json
import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from client import listings
from gates.wire import Broker, own_ports, serving
from waiting import PATIENCE, WHOLE, asynchronous, until

EXAMPLE = Path(__file__).parents[2] / "examples" / "chat"
sys.path.append(str(EXAMPLE))

from chat import PROFILE, Chat, person, profile_for  # noqa: E402
from terminal import harmless  # noqa: E402

pytestmark = pytest.mark.server

MESSAGES = "SELECT ?p ?o WHERE { ?m a <http://schema.org/Message> ; ?p ?o }"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with serving(tmp_path_factory.mktemp("broker"), "--memory") as running:
        yield running


@pytest.fixture(autouse=True)
def empty(broker: Broker) -> None:
    broker.update("CLEAR ALL")


class User:
    """Somebody, and the lines that they see."""

    def __init__(self, broker: Broker, name: str) -> None:
        self.lines: list[str] = []
        self.chat = Chat(profile_for(broker.http, broker.ws), name, lambda line: self.lines.append(line.strip()))

    async def __aenter__(self) -> "User":
        await self.chat.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.chat.__aexit__()

    async def sees(self, line: str) -> None:
        await until(lambda: line in self.lines)


# -- the profile ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SEND", "SET_RECEIVED", "REMOVE", "SENT", "RECEIVED"])
def test_the_profile_has_what_the_paper_prints(name: str) -> None:
    ours, printed = json.loads(PROFILE.read_text()), json.loads(listings.CHAT)
    section = "updates" if name in printed["updates"] else "queries"
    assert ours[section][name] == printed[section][name]


# -- conversations ----------------------------------------------------------------------------------------------


@asynchronous
async def test_two_users_talk_in_both_directions_and_leave_the_store_clean(broker: Broker) -> None:
    async with User(broker, "alice") as alice, User(broker, "bob") as bob:
        assert await alice.chat.send("bob", "hello")
        await bob.sees("alice: hello")
        await alice.sees("✓ bob has “hello”")
        assert await bob.chat.send("alice", 'say "hi" } ; DROP ALL #')
        await alice.sees('bob: say "hi" } ; DROP ALL #')
        await bob.sees('✓ alice has “say "hi" } ; DROP ALL #”')
        assert broker.query(MESSAGES) == []
        await until(lambda: alice.chat.users == bob.chat.users == ["alice", "bob"])
    assert not any(line.startswith("bob: hello") for line in alice.lines)


@asynchronous
async def test_who_is_away_gets_the_messages_when_he_comes_in_the_order_they_were_sent(broker: Broker) -> None:
    async with User(broker, "bob"):
        pass
    async with User(broker, "alice") as alice:
        for text in ("one", "two", "three"):
            assert await alice.chat.send("bob", text)
        assert len(broker.query("SELECT ?m WHERE { ?m a <http://schema.org/Message> }")) == 3
        assert not any("✓" in line for line in alice.lines)
        async with User(broker, "bob") as bob:
            await alice.sees("✓ bob has “three”")
            assert [line for line in bob.lines if line.startswith("alice:")] == [
                "alice: one",
                "alice: two",
                "alice: three",
            ]
    assert broker.query(MESSAGES) == []


@asynchronous
async def test_a_sender_who_left_learns_of_the_delivery_later_and_nothing_is_shown_twice(broker: Broker) -> None:
    async with User(broker, "bob"):
        pass
    async with User(broker, "alice") as alice:
        await alice.chat.send("bob", "read this")
    async with User(broker, "bob") as bob:
        await bob.sees("alice: read this")
        await until(lambda: any(row["p"]["value"].endswith("dateReceived") for row in broker.query(MESSAGES)))
    async with User(broker, "bob") as bob, User(broker, "alice") as alice:
        await alice.sees("✓ bob has “read this”")
        assert "alice: read this" not in bob.lines
    assert broker.query(MESSAGES) == []


@asynchronous
async def test_nothing_is_sent_to_somebody_who_was_never_here(broker: Broker) -> None:
    async with User(broker, "alice") as alice:
        assert not await alice.chat.send("zoe", "hello")
        await alice.sees("nobody called zoe was ever here")
    assert broker.query(MESSAGES) == []


@asynchronous
async def test_a_hundred_messages_to_oneself(broker: Broker) -> None:
    async with User(broker, "alice") as alice:
        for number in range(100):
            assert await alice.chat.send("alice", f"message {number}")
        await until(lambda: sum("✓" in line for line in alice.lines) == 100)
        assert [line for line in alice.lines if line.startswith("alice:")] == [
            f"alice: message {number}" for number in range(100)
        ]
    assert broker.query(MESSAGES) == []


@asynchronous
async def test_the_chat_goes_on_after_the_broker_was_killed(tmp_path: Path) -> None:
    ports = own_ports()
    with serving(tmp_path, "--data", "data", *ports) as first:
        async with User(first, "alice") as alice, User(first, "bob") as bob:
            await alice.chat.send("bob", "before")
            await alice.sees("✓ bob has “before”")
            first.stop(signal.SIGKILL)
            with serving(tmp_path, "--data", "data", *ports) as second:
                await alice.chat.send("bob", "after")
                await bob.sees("alice: after")
                await alice.sees("✓ bob has “after”")
                assert second.query(MESSAGES) == []


@asynchronous
async def test_users_register_again_with_a_broker_that_has_forgotten_everything(broker: Broker) -> None:
    async with User(broker, "alice") as alice, User(broker, "bob") as bob:
        broker.update("CLEAR ALL")
        await until(lambda: len(broker.query("SELECT ?p WHERE { ?p a <http://schema.org/Person> }")) == 2)
        await alice.chat.send("bob", "still here")
        await bob.sees("alice: still here")


def test_names_of_any_kind_have_iris_of_their_own() -> None:
    assert person("Zoë/1") == "http://schema.org/Person-Zo%C3%AB%2F1"


def test_what_others_write_cannot_command_the_terminal() -> None:
    assert harmless("a\x1b[2Jb\nc\u202ed é") == "a·[2Jb·c·d é"


# -- the program ------------------------------------------------------------------------------------------------


class Screen:
    """A chat in a terminal of its own."""

    def __init__(self, leader: int) -> None:
        self._leader = leader
        self.text = ""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        try:
            while chunk := os.read(self._leader, 65536):
                self.text += chunk.decode(errors="replace")
        except OSError:
            pass  # the program has ended

    def type(self, line: str) -> None:
        os.write(self._leader, line.encode())

    async def shows(self, text: str) -> None:
        await until(lambda: text in self.text)


@contextmanager
def terminal(broker: Broker, name: str) -> Iterator[tuple[subprocess.Popen[bytes], Screen]]:
    leader, follower = pty.openpty()
    command = [sys.executable, str(EXAMPLE / "chat.py"), "--me", name, "--http", broker.http, "--ws", broker.ws]
    environment = os.environ | {"TERM": "xterm"}
    with subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=environment) as process:
        os.close(follower)
        try:
            yield process, Screen(leader)
        finally:
            process.kill()
    os.close(leader)


@asynchronous
async def test_two_terminals(broker: Broker) -> None:
    with terminal(broker, "alice") as (first, alice), terminal(broker, "bob") as (second, bob):
        await alice.shows("alice> ")
        await bob.shows("bob> ")
        alice.type("@bob hello\n")
        await bob.shows("alice: hello\r\nbob> ")
        await alice.shows("✓ bob has “hello”\r\nalice> ")
        bob.type("@alice half")
        await bob.shows("bob> @alice half")
        alice.type("@bob more\n")
        await bob.shows("alice: more\r\nbob> @alice half")  # what was typed is still there
        await alice.shows("✓ bob has “more”\r\nalice> ")
        bob.type(" a word\n")
        await alice.shows("bob: half a word")
        await bob.shows("✓ alice has “half a word”")  # by then, nothing of it is left
        alice.type("/users\n")
        await alice.shows("alice, bob")
        alice.type("huh?\n")
        await until(lambda: alice.text.count("/quit   leaves") == 2)
        alice.type("/quit\n")
        assert await asyncio.to_thread(first.wait, PATIENCE) == 0
        second.send_signal(signal.SIGINT)
        assert await asyncio.to_thread(second.wait, PATIENCE) == 0
    assert "Traceback" not in alice.text + bob.text
    assert broker.query(MESSAGES) == []


def run(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(EXAMPLE / "chat.py"), *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=WHOLE, check=False)


def test_the_demonstration_plays_to_its_end() -> None:
    done = run("--demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("✓") == 4
    assert "[  bob]  alice: Are you still there?" in done.stdout


def test_lines_can_come_from_a_pipe(broker: Broker) -> None:
    done = run("--me", "alice", "--http", broker.http, "--ws", broker.ws, stdin="@zoe hello\n/users\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-2:] == ["  nobody called zoe was ever here", "  alice"]


def test_a_broker_that_is_not_there_is_told_in_a_line() -> None:
    done = run("--me", "alice", "--http", "http://127.0.0.1:1", "--ws", "ws://127.0.0.1:1/subscribe")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("chat: nobody answers at http://127.0.0.1:1")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["", "two words", "@bob", "\x1b[2J"])
def test_a_name_is_one_word(name: str) -> None:
    assert run("--me", name).returncode == 2
