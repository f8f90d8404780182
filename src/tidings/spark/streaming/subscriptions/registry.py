"""The registry of subscriptions: a folder of numbered versions, each of which begins some of them and ends others.

    REGISTRY/versions/NUMBER.jsonl    a version and its commands, written atomically
    REGISTRY/seeds/NUMBER-…/          Parquet: unit, s, p, o, g; the seeds of the subscriptions that begin
    REGISTRY/closed                   while the job is being stopped: no batch begins

The numbers have no gap, and a version never changes. For this reason, and because commits are the only clock, a batch
that is repeated gives the same result.
"""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import uuid4
from zlib import crc32

import msgspec

from tidings.log.layout import write_whole
from tidings.spark.lake.manifest import File
from tidings.spark.log_source.origin import Mark
from tidings.spark.streaming.errors import StreamUnusable
from tidings.spark.streaming.unit import Member


class Begin(msgspec.Struct, frozen=True, tag="begin"):
    """A member begins, in a unit, after the commit of its version."""

    unit: int
    member: Member


class End(msgspec.Struct, frozen=True, tag="end", rename={"commit": "seq"}):
    """A member ends after a commit."""

    unit: int
    spuid: str
    commit: int


class Version(msgspec.Struct, frozen=True, rename={"commit": "seq"}):
    """The first line of a version."""

    number: int
    commit: int
    """The commit after which its members begin."""
    time: int
    reach: int
    """The last commit that it mentions. A batch with this version ends at this commit or later."""
    begins: int
    crc: int
    seeds: tuple[File, ...] = ()


_version = msgspec.json.Decoder(Version).decode
_commands = msgspec.json.Decoder(Begin | End)


class Registry:
    """The versions in a folder, which it makes if necessary. Raises StreamUnusable."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._last = 0
        try:
            for name in ("versions", "seeds"):
                (path / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StreamUnusable(f"{path} cannot be used for a registry: {error.strerror}") from error

    def _file(self, number: int) -> Path:
        return self.path / "versions" / f"{number:020}.jsonl"

    def last(self) -> int:
        """The number of the last version; 0 if there is none."""
        while self._file(self._last + 1).exists():
            self._last += 1
        return self._last

    def version(self, number: int) -> Version:
        try:
            with self._file(number).open("rb") as file:
                return _version(file.readline())
        except (OSError, msgspec.DecodeError) as error:
            raise StreamUnusable(f"{self._file(number)} cannot be read: {error}") from error

    def commands(self, number: int) -> list[Begin | End]:
        """The commands of a version. Raises StreamUnusable if the file is damaged."""
        path = self._file(number)
        try:
            first, _, rest = path.read_bytes().partition(b"\n")
            if crc32(rest) != _version(first).crc:
                raise StreamUnusable(f"{path} is damaged: its checksum is wrong")
            return [_commands.decode(line) for line in rest.splitlines()]
        except (OSError, msgspec.DecodeError) as error:
            raise StreamUnusable(f"{path} cannot be read: {error}") from error

    def everything(self, last: int | None = None) -> Iterator[tuple[Version, list[Begin | End]]]:
        for number in range(1, (self.last() if last is None else last) + 1):
            yield self.version(number), self.commands(number)

    def publish(self, mark: Mark, commands: Sequence[Begin | End], seeds: tuple[File, ...] = ()) -> Version:
        """Write the next version. Only one process may publish at a time."""
        rest = b"".join(msgspec.json.encode(command) + b"\n" for command in commands)
        ends = [command.commit for command in commands if isinstance(command, End)]
        begins = len(commands) - len(ends)
        version = Version(self.last() + 1, *mark, max([*ends, mark.commit * bool(begins)]), begins, crc32(rest), seeds)
        try:
            write_whole(self._file(version.number), msgspec.json.encode(version) + b"\n" + rest)
        except OSError as error:
            raise StreamUnusable(f"{self.path} cannot be written: {error.strerror}") from error
        return version

    def fresh_seeds(self) -> Path:
        """A folder for the seeds of the next version."""
        return self.path / "seeds" / f"{self.last() + 1:020}-{uuid4().hex[:12]}"

    @property
    def closed(self) -> bool:
        return (self.path / "closed").exists()

    def close(self) -> None:
        (self.path / "closed").touch()

    def open(self) -> None:
        (self.path / "closed").unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove seeds that no version names, left by a killed process."""
        known = {Path(file.path).parent.name for version, _ in self.everything() for file in version.seeds}
        for folder in (self.path / "seeds").iterdir():
            if folder.name not in known:
                shutil.rmtree(folder, ignore_errors=True)
