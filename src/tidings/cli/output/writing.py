"""Writes output to stdout, or to a file that exists only once it is complete."""

import errno
import gzip
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, cast

from tidings.server.files import FileTrouble

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def write(chunks: Iterable[bytes], target: str | None) -> None:
    """Write all chunks to stdout (None, or `-`) or to a file."""
    if target is None or target == "-":
        out = sys.stdout.buffer
        sys.stdout.flush()
        for chunk in chunks:
            out.write(chunk)
        out.flush()
        return
    with _file(Path(target)) as file:
        for chunk in chunks:
            file.write(chunk)


@contextmanager
def _file(path: Path) -> Iterator[IO[bytes]]:
    """A temporary file that replaces the target once it is complete; compressed if its name ends in .gz."""
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:  # a device or a pipe cannot be replaced
                yield file
            return
        with _beside(path.resolve()) as plain:
            if path.name.lower().endswith(".gz"):
                with gzip.GzipFile(filename="", fileobj=plain, mode="wb", compresslevel=6, mtime=0) as packed:
                    yield cast(IO[bytes], packed)
            else:
                yield plain
    except OSError as error:
        raise FileTrouble(f"{path}: {error.strerror or error}") from error


@contextmanager
def _beside(path: Path) -> Iterator[IO[bytes]]:
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            yield file
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.replace(file.name, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(file.name)
            raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


# -- stdout and stderr, as a caller may leave them: closed, or on a disk that is full ----------------------------------


def reserve() -> None:
    """Have those that are closed lead nowhere; otherwise, the next file that is opened would take their place."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115 - as long as we live


def give_up_stdout() -> None:
    """Nothing more can be written, not even at the end of the process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def output_trouble(error: OSError) -> FileTrouble | None:
    """What is to be said of an error of the disk that stdout is on, if it is one: a file has a name."""
    if error.filename is not None or error.errno not in _NO_ROOM:
        return None
    return FileTrouble(f"stdout cannot be written: {error.strerror}")
