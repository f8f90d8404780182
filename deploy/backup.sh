#!/bin/sh
# Copies the data folder of a broker, which may be running, to a new folder:
#
#   backup.sh /var/lib/tidings /var/backups/tidings/2026-11-15
#
# Snapshots come before the log, so that the copied log reaches beyond the copied snapshots. A broker that starts from the
# copy is as one that starts after a power cut at that moment. A copy that was interrupted has the name FOLDER.partial.
set -eu

say() { echo "backup.sh: $*" >&2; }

# The newest snapshot that was copied must be there still when the log has been: then no part of the log that follows it
# was removed meanwhile (setting keep_log).
copy() {
  rm -rf -- "$to.partial"
  mkdir -p -- "$to.partial/snapshots" "$to.partial/log"
  cp -p -- "$from/format.json" "$to.partial/" || return 1
  newest=
  for manifest in "$from"/snapshots/*.json; do
    [ -e "$manifest" ] || continue
    cp -p -- "${manifest}l" "$manifest" "$to.partial/snapshots/" || return 1
    newest=$manifest
  done
  for segment in "$from"/log/*.jsonl; do
    [ -e "$segment" ] || continue
    cp -p -- "$segment" "$to.partial/log/" || return 1
  done
  [ -z "$newest" ] || [ -e "$newest" ]
}

[ $# -eq 2 ] || { echo "usage: backup.sh DATA-FOLDER NEW-FOLDER" >&2; exit 2; }
from=$1 to=$2
[ -f "$from/format.json" ] || { say "$from is not a data folder of Tidings"; exit 1; }
[ ! -e "$to" ] || { say "$to is there already"; exit 1; }
umask 077

tries=5
until copy; do
  tries=$((tries - 1))
  [ "$tries" -gt 0 ] || { say "$from could not be copied; what there is of it is in $to.partial"; exit 1; }
  say "a snapshot was replaced in the meantime; once more"
done
sync
mv -- "$to.partial" "$to"
