"""Nothing is answered before it is on disk: the commit log, group commit, snapshots."""
