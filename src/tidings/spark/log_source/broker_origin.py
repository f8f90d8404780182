"""A running broker as a place where commits come from, by its `/log`. Who reads it is as its environment says."""

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from tidings.client.errors import CannotConnect, ConnectionLost, NoAnswer, NotUnderstood, Refused
from tidings.client.http import HttpClient
from tidings.client.login.environment import shown_at, trusted
from tidings.log.entry import Entry
from tidings.log.errors import HistoryGone
from tidings.protocol.entry_lines import IncompleteEntry, IncompleteLine, read_feed
from tidings.spark.errors import FeedFailed
from tidings.spark.log_source.origin import Mark


class BrokerOrigin:
    """A running broker, by its /log."""

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/").removesuffix("/log")

    def first(self) -> int:
        try:
            entry = next(self.commits(0, 1), None)
        except HistoryGone as gone:
            return gone.first
        return entry.commit if entry else 1

    def end(self) -> Mark:
        with self._asked("/status", 0) as client:
            answer = client.json("/status")
        log = answer.get("log") if isinstance(answer, dict) else None
        if not isinstance(log, dict) or not isinstance(log.get("sequence"), int):
            raise FeedFailed(f"{self._address} keeps no log: what is published there is in memory only")
        last: int = log["sequence"]
        entry = next(self.commits(last - 1, last), None) if last and self.first() <= last else None
        return Mark(entry.commit, entry.time) if entry else Mark(last, 0)

    def commits(self, after: int, last: int) -> Iterator[Entry]:
        if last <= after:
            return
        given = {"from": f"{after + 1}", "limit": f"{last - after}", "format": "json"}
        with self._asked("/log", after) as client, client.streamed("/log", params=given, accept="*/*") as pieces:
            yield from read_feed(pieces)

    @contextmanager
    def _asked(self, path: str, after: int) -> Iterator[HttpClient]:
        """A connection to ask for a path; what goes wrong is FeedFailed, or HistoryGone."""
        try:
            with HttpClient(self._address, trust=trusted(), credentials=shown_at(self._address)) as client:
                yield client
        except Refused as error:
            if error.code == HistoryGone.code and isinstance(oldest := error.data().get("oldest"), int):
                raise HistoryGone(after, oldest) from error
            raise FeedFailed(f"{self._address} answers: {error}") from error
        except (CannotConnect, ConnectionLost, NoAnswer, NotUnderstood) as error:
            raise FeedFailed(f"{self._address}{path} cannot be read: {error}") from error
        except IncompleteEntry as error:
            raise FeedFailed(f"commit {error.commit} comes without its last {error.left} changes") from error
        except (IncompleteLine, msgspec.DecodeError, KeyError) as error:
            raise FeedFailed(f"{self._address}{path} cannot be read: {error or type(error).__name__}") from error
