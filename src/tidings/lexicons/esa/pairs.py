"""Pairs of words with human judgements: a line `tiger<TAB>cat<TAB>7.35` each, in a file or in an archive of files.

The sets that researchers compare with (WordSim-353, MEN, SimLex-999 and others) are all of this form.
"""

import re
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tidings.lexicons.errors import PairsUnreadable
from tidings.matching.esa.judgement import Pair

_APART = re.compile(r"[\t,;]| +")
_LARGEST = 16_000_000
_MOST = 200_000


def read_sets(path: Path) -> Iterator[tuple[str, list[Pair]]]:
    """The sets in a file, an archive (.tar, .tgz) or a folder, each with its name. Raises PairsUnreadable."""
    try:
        if path.is_dir():
            for each in sorted(path.glob("*.txt")):
                yield each.stem, _read(each.name, each.read_bytes())
        elif tarfile.is_tarfile(path):
            yield from _archived(path)
        else:
            yield path.stem, _read(path.name, path.read_bytes())
    except (OSError, tarfile.TarError, EOFError) as error:
        raise PairsUnreadable(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _archived(path: Path) -> Iterator[tuple[str, list[Pair]]]:
    with tarfile.open(path) as archive:
        for member in sorted(archive.getmembers(), key=lambda each: each.name):
            name = PurePosixPath(member.name)
            if not member.isfile() or name.suffix != ".txt":
                continue
            if member.size > _LARGEST:
                raise PairsUnreadable(f"{path}: {name} has {member.size:,} bytes; sets of pairs are small")
            file = archive.extractfile(member)
            yield name.stem, _read(name.name, file.read() if file else b"")


def _read(name: str, text: bytes) -> list[Pair]:
    lines = text.decode("utf-8-sig", "replace").splitlines()
    found = [_pair(name, number, line) for number, line in enumerate(lines, 1) if line.strip() and line[0] != "#"]
    if not 2 <= len(found) <= _MOST:
        raise PairsUnreadable(f"{name} has {len(found):,} pairs; 2 to {_MOST:,} can be judged")
    return found


def _pair(name: str, number: int, line: str) -> Pair:
    fields = [field for field in _APART.split(line.strip()) if field]
    try:
        left, right, judged = fields
        return Pair(left, right, float(judged))
    except ValueError:
        raise PairsUnreadable(
            f"{name}, line {number}: a line is two words and a number, as `tiger<TAB>cat<TAB>7.35`, not {line[:60]!r}"
        ) from None
