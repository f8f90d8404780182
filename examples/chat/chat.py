"""A chat in the terminal, made of three agents with the updates and queries of `chat.jsap`.

    Sender    a producer                  SEND
    Receiver  an aggregator   SENT     -> SET_RECEIVED
    Remover   an aggregator   RECEIVED -> REMOVE

The agents do not talk to each other: a message is a few triples, and each agent subscribes to those that concern it.
The store has the messages that are not received yet.
"""

import argparse
import asyncio
import json
import logging
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote, urlsplit

from terminal import Terminal, harmless

from tidings.client import Application, Change, Row
from tidings.model.errors import TidingsError

PROFILE = Path(__file__).with_name("chat.jsap")
HELP = "@bob hello   sends a message      /users   who is here      /quit   leaves"

Show: TypeAlias = Callable[[str], None]


def person(name: str) -> str:
    """The IRI of a user."""
    return f"http://schema.org/Person-{quote(name, safe='')}"


class Chat:
    """The agents of one user, as an async context manager. It calls `show` with every line for the user."""

    def __init__(self, profile: dict[str, Any] | Path, me: str, show: Show) -> None:
        self.me, self._iri, self._show = me, person(me), show
        self._app = app = Application(profile)
        self._send = app.producer("SEND")
        self._shown: set[str] = set()
        self._received: set[str] = set()
        self._users = app.sequential("USERS", "REGISTER", state=None)(self._users_changed)
        app.consumer("UNDER_WAY", sender=self._iri)(self._arrived)
        app.aggregator("SENT", "SET_RECEIVED", receiver=self._iri)(self._receive)
        app.aggregator("RECEIVED", "REMOVE", sender=self._iri)(self._remove)

    async def __aenter__(self) -> "Chat":
        try:
            await self._app.producer("REGISTER")(person=self._iri, name=self.me)
            # Messages that this user received in an earlier run, and whose senders were away since: not shown again.
            self._shown = {str(row["message"]) for row in await self._app.query("RECEIVED")}
            await self._app.__aenter__()
        except BaseException:
            await self._app.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._app.close()

    async def wait(self) -> None:
        """Wait until an error occurs from which the agents cannot recover."""
        await self._app.wait()

    @property
    def users(self) -> list[str]:
        return sorted(str(row["name"]) for row in self._users.rows)

    # -- agents -------------------------------------------------------------------------------------------------

    async def send(self, to: str, text: str) -> bool:
        """The Sender. It sends nothing to a user who was never in the chat."""
        done = await self._send(sender=self._iri, receiver=person(to), text=text)
        if done is not None and not done.added:
            self._show(f"  nobody called {harmless(to)} was ever here")
            return False
        return True

    def _receive(self, row: Row) -> dict[str, Any] | None:
        message = str(row["message"])
        if message in self._shown:
            return None
        self._shown.add(message)
        self._show(f"  {harmless(row['name'])}: {harmless(row['text'])}")
        return {"message": row["message"]}

    def _remove(self, row: Row) -> dict[str, Any]:
        self._received.add(str(row["message"]))
        return {"message": row["message"]}

    def _arrived(self, change: Change) -> None:
        """Show that own messages have arrived. It shows only those that were received, because a broker without a log
        may lose others."""
        for row in change.removed:
            if str(row["message"]) in self._received:
                self._received.remove(str(row["message"]))
                self._show(f"  ✓ {harmless(row['name'])} has “{harmless(row['text'])}”")

    def _users_changed(self, _: None, change: Change) -> dict[str, Any] | None:
        for row in change.added:
            if change.sequence and row["name"] != self.me:
                self._show(f"  {harmless(row['name'])} is here for the first time")
        if any(row["person"] == self._iri for row in self._users.rows):
            return None
        return {"person": self._iri, "name": self.me}  # the broker has lost everything


# -- the terminal -----------------------------------------------------------------------------------------------


async def obey(chat: Chat, line: str, show: Show) -> bool:
    """Execute a line of input. Returns False for the command to leave."""
    match line.strip().split(maxsplit=1):
        case [] | ["@"]:
            pass
        case ["/quit" | "/q"]:
            return False
        case ["/users"]:
            show(f"  {', '.join(map(harmless, chat.users))}")
        case [to, text] if to.startswith("@"):
            try:
                await chat.send(to[1:], text)
            except TidingsError as error:
                show(f"  not sent: {error}")
        case _:
            show(f"  {HELP}")
    return True


async def talk(profile: dict[str, Any], me: str) -> None:
    """Run the chat for a user at the terminal."""
    terminal = Terminal(f"{me}> ")
    async with Chat(profile, me, terminal.show) as chat:
        terminal.show(f"  You are {me}. Here are or were: {', '.join(map(harmless, chat.users)) or 'nobody yet'}")
        terminal.show(f"  {HELP}")
        failure = asyncio.create_task(chat.wait())
        try:
            async for line in terminal.lines(failure):
                if not await obey(chat, line, terminal.show):
                    break
        finally:
            failure.cancel()
            terminal.close()
        if failure.done() and not failure.cancelled():
            failure.result()


async def demonstrate(profile: dict[str, Any]) -> None:
    """A scripted chat of Alice and Bob. Each waits for the mark that the other has received the message."""
    marks: asyncio.Queue[str] = asyncio.Queue(100)

    def showing(name: str) -> Show:
        def show(line: str) -> None:
            print(f"[{name:>5}]{line}")
            if "✓" in line:
                marks.put_nowait(line)

        return show

    async def say(chat: Chat, to: str, text: str) -> None:
        print(f"[{chat.me:>5}]> @{to} {text}")
        await chat.send(to, text)

    async def received() -> None:
        await asyncio.wait_for(marks.get(), 30)

    async with Chat(profile, "alice", showing("alice")) as alice:
        async with Chat(profile, "bob", showing("bob")) as bob:
            await say(alice, "bob", "Hello Bob!")
            await received()
            await say(bob, "alice", "Hello Alice, I must be off.")
            await received()
        print("        bob leaves")
        await say(alice, "bob", "Are you still there?")
        print("        bob comes back")
        async with Chat(profile, "bob", showing("bob")) as bob:
            await received()
            await say(bob, "alice", "I am now.")
            await received()


# -- the broker -------------------------------------------------------------------------------------------------


def profile_for(http: str, ws: str) -> dict[str, Any]:
    """The profile, with the addresses of a broker."""
    profile: dict[str, Any] = json.loads(PROFILE.read_text())
    web, socket = urlsplit(http), urlsplit(ws)
    profile["sparql11protocol"] = {"protocol": web.scheme, "host": web.hostname, "port": web.port or 8000}
    gate = {"port": socket.port or 9000, "path": socket.path or "/subscribe"}
    profile["sparql11seprotocol"] = {
        "protocol": socket.scheme,
        "host": socket.hostname,
        "availableProtocols": {socket.scheme: gate},
    }
    return profile


@contextmanager
def own_broker() -> Iterator[tuple[str, str]]:
    """Run a broker within this context. Yields its addresses for updates and for subscriptions."""
    command = [sys.executable, "-m", "tidings", "serve", "--memory", "--http-port", "0", "--ws-port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            greeting = ""
            for line in process.stdout:
                greeting += line
                http, ws = re.search(r"http://[\w.:]+", greeting), re.search(r"ws://[\w.:]+/subscribe", greeting)
                if http and ws:
                    yield http[0], ws[0]
                    return
            raise SystemExit("the broker did not start")
        finally:
            process.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description="A chat of producers and aggregators.")
    parser.add_argument("--me", metavar="NAME", help="who you are")
    parser.add_argument("--http", default="http://localhost:8000", metavar="URL", help="where updates go (%(default)s)")
    parser.add_argument(
        "--ws", default="ws://localhost:9000/subscribe", metavar="URL", help="subscriptions (%(default)s)"
    )
    parser.add_argument("--demo", action="store_true", help="let two users talk, on a broker of their own")
    options = parser.parse_args()
    if not options.demo and (not options.me or set(options.me) & set(" \t@") or harmless(options.me) != options.me):
        parser.error("say who you are, in one word: --me alice")
    logging.getLogger("tidings.client").addHandler(logging.NullHandler())  # log lines would disturb the prompt
    try:
        if options.demo:
            with own_broker() as (http, ws):
                asyncio.run(demonstrate(profile_for(http, ws)))
        else:
            asyncio.run(talk(profile_for(options.http, options.ws), options.me))
    except TidingsError as error:
        raise SystemExit(f"chat: {error}") from error
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
