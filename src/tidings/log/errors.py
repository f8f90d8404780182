"""What can go wrong between the log and the disk; branches of the tree in `model/errors.py`.

TidingsError
├── FolderUnusable       folder_unusable       500   no permission, a file in the way, another format
├── FolderInUse          folder_in_use         500   pid
├── LogDamaged           log_damaged           500   file, line, what
├── LogWriteFailed       log_write_failed      507   the disk is full or fails; nothing was committed
├── LogBroken            log_broken            503   the content of the log is uncertain: restart the broker
└── HistoryGone          history_gone          410   first
"""

from pathlib import Path
from shlex import quote
from typing import Any

from tidings.model.errors import TidingsError


class FolderUnusable(TidingsError):
    code = "folder_unusable"


class FolderInUse(TidingsError):
    code = "folder_in_use"

    def __init__(self, folder: Path, pid: int | None) -> None:
        who = f"process {pid}" if pid else "another process"
        super().__init__(f"{folder} is in use by {who}: a folder belongs to one broker at a time")
        self.folder = folder
        self.pid = pid


class LogDamaged(TidingsError):
    """Damage that cannot come from a crash. Going on from there would lose commits silently."""

    code = "log_damaged"

    def __init__(self, folder: Path, file: Path, what: str, *, line: int | None = None) -> None:
        where = file.relative_to(folder) if file.is_relative_to(folder) else file
        at = f", line {line}" if line else ""
        super().__init__(f"{where}{at}: {what}; `tidings repair --data {quote(str(folder))}` keeps what is sound")
        self.folder = folder
        self.file = file
        self.line = line
        self.what = what


class LogWriteFailed(TidingsError):
    status = 507
    code = "log_write_failed"

    def __init__(self, error: OSError) -> None:
        super().__init__(f"the commit log cannot be written: {error.strerror or error}; nothing was committed")
        self.errno = error.errno


class LogBroken(TidingsError):
    status = 503
    code = "log_broken"

    def __init__(self) -> None:
        super().__init__("the commit log failed in a way that leaves its end uncertain: restart the broker")


class HistoryGone(TidingsError):
    """The entries were pruned; only a snapshot has their result."""

    status = 410
    code = "history_gone"

    def __init__(self, after: int, first: int) -> None:
        super().__init__(f"the log no longer reaches back to commit {after + 1}: its first is commit {first}")
        self.after = after
        self.first = first

    def data(self) -> dict[str, Any]:
        return {"oldest": self.first}
