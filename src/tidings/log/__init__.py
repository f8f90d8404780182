"""The commit log: what happened, in order, on disk before anybody is told. Everything downstream is a fold over it.

    DIR/format.json                           what this folder is; an unknown version is refused
    DIR/lock                                  held while a broker runs
    DIR/log/00000000000000000001.jsonl        segments: JSON lines, a change each, for Spark as for us
    DIR/snapshots/00000000000000001234.jsonl  all quads after a commit; its .json manifest makes it exist
    DIR/damaged/                              what a repair put aside

Synchronous throughout: whoever calls decides in which thread.
"""
