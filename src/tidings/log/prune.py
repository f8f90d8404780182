"""Removes the oldest segments, but none that a restart or a repair may need."""

from pathlib import Path

from tidings.log.layout import log_of, segment_path, segments, sync_folder
from tidings.log.snapshot import manifests


def prune(folder: Path, keep_bytes: int, up_to: int) -> list[int]:
    """Remove the oldest segments while the log has more than `keep_bytes`. Returns the removed segments.

    A segment is removed only if it has nothing after commit `up_to`, and nothing after the oldest snapshot that is
    kept, from which a repair starts if the newer one is damaged.
    """
    oldest = next((name.commit for name in manifests(folder)), 0)
    covered = min(up_to, oldest)
    firsts = segments(folder)
    sizes = [segment_path(folder, first).stat().st_size for first in firsts]
    excess = sum(sizes) - keep_bytes
    gone = []
    for first, size, following in zip(firsts, sizes, firsts[1:], strict=False):
        # Notes that came after the snapshot and before the next commit are in the segment before `covered + 1`.
        if excess <= 0 or following > covered:
            break
        segment_path(folder, first).unlink()
        excess -= size
        gone.append(first)
    if gone:
        sync_folder(log_of(folder))
    return gone
