"""The commit log: all commits and notes in order, on disk before any client is answered or notified.

    DIR/format.json                           the version of the format; an unknown one is refused
    DIR/lock                                  held while a broker runs
    DIR/log/00000000000000000001.jsonl        segments: JSON lines, one for each change, which Spark reads as well
    DIR/snapshots/00000000000000001234.jsonl  all quads after a commit; valid once its .json manifest exists
    DIR/damaged/                              what a repair moved out of the log

All functions are synchronous; the caller chooses the thread.
"""
