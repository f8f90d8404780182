"""stdout and stderr, as a caller may leave them: closed, or on a disk that is full."""

import errno
import os
import sys

from tidings.server.files import FileTrouble

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


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
