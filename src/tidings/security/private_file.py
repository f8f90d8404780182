"""Files that hold a secret: for the broker's user alone, there in full or not at all, and durable once written."""

import os
from pathlib import Path

from tidings.log.layout import sync_folder


def write_private(path: Path, content: bytes) -> None:
    """Write a file of mode 0600 in the place of one that may be there. Raises OSError."""
    partial = path.with_name(f"{path.name}.tmp")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    sync_folder(path.parent)
