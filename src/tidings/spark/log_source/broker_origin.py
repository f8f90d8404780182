"""A running broker as an origin of commits, through its `/log`, with credentials from the environment.

The request names the graphs, and the broker refuses it if the client may not read all of them. So a job never gets
fewer graphs than it asks for without an error, even if its rights change between two requests.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from tidings.client.errors import CannotConnect, ConnectionLost, NoAnswer, NotUnderstood, Refused
from tidings.client.http import HttpClient
from tidings.client.login.environment import shown_at, trusted
from tidings.log.entry import Entry
from tidings.log.errors import HistoryGone
from tidings.model.access import Graphs
from tidings.model.errors import BadRequest, GraphNotReadable
from tidings.model.graph_patterns import ALL, read_graphs, written
from tidings.protocol.entry_lines import IncompleteEntry, IncompleteLine, read_feed
from tidings.spark.errors import FeedFailed, OtherGraphs
from tidings.spark.log_source.origin import Mark


class BrokerOrigin:
    """A running broker, read through its /log."""

    def __init__(self, address: str, graphs: Graphs = Graphs.ALL) -> None:
        self._address = address.rstrip("/").removesuffix("/log")
        self._graphs = graphs

    def graphs(self) -> Graphs:
        """The graphs that this client may read."""
        readable = self._status().get("readable", [ALL])
        try:
            return read_graphs(msgspec.convert(readable, list[str]))
        except (BadRequest, msgspec.ValidationError) as error:
            raise FeedFailed(f"{self._address}/status cannot be read: {error}") from error

    def first(self) -> int:
        try:
            entry = next(self.commits(0, 1), None)
        except HistoryGone as gone:
            return gone.first
        return entry.commit if entry else 1

    def end(self) -> Mark:
        log = self._status().get("log")
        if not isinstance(log, dict) or not isinstance(log.get("sequence"), int):
            raise FeedFailed(f"{self._address} keeps no log: what is published there is in memory only")
        last: int = log["sequence"]
        entry = next(self.commits(last - 1, last), None) if last and self.first() <= last else None
        return Mark(entry.commit, entry.time) if entry else Mark(last, 0)

    def _status(self) -> dict[str, Any]:
        with self._asked("/status", 0) as client:
            answer = client.json("/status")
        return answer if isinstance(answer, dict) else {}

    def commits(self, after: int, last: int) -> Iterator[Entry]:
        if last <= after:
            return
        wanted = {"from": f"{after + 1}", "limit": f"{last - after}", "format": "json"}
        given = wanted | {"graphs": written(self._graphs)}
        with self._asked("/log", after) as client, client.streamed("/log", params=given, accept="*/*") as pieces:
            for entry in read_feed(pieces):
                yield entry.seen_by(self._graphs)  # a broker of an earlier version shows everything

    @contextmanager
    def _asked(self, path: str, after: int) -> Iterator[HttpClient]:
        """A client for a request. Its errors become FeedFailed, HistoryGone or OtherGraphs."""
        try:
            with HttpClient(self._address, trust=trusted(), credentials=shown_at(self._address)) as client:
                yield client
        except Refused as error:
            if error.code == HistoryGone.code and isinstance(oldest := error.data().get("oldest"), int):
                raise HistoryGone(after, oldest) from error
            if error.code == GraphNotReadable.code:
                raise OtherGraphs(f"{self._address} answers: {error}") from error
            raise FeedFailed(f"{self._address} answers: {error}") from error
        except (CannotConnect, ConnectionLost, NoAnswer, NotUnderstood) as error:
            raise FeedFailed(f"{self._address}{path} cannot be read: {error}") from error
        except IncompleteEntry as error:
            raise FeedFailed(f"commit {error.commit} comes without its last {error.left} changes") from error
        except (IncompleteLine, msgspec.DecodeError, KeyError) as error:
            raise FeedFailed(f"{self._address}{path} cannot be read: {error or type(error).__name__}") from error
