"""Keeps private keys, in memory or in files that only the broker's user can read.

keys/KID.json    a private JWK, mode 0600, in a folder of mode 0700; there in full, or not at all
"""

import os
import re
from pathlib import Path
from typing import Protocol

import msgspec

from tidings.security.errors import KeysUnusable
from tidings.security.keys.signing_key import SigningKey
from tidings.security.private_file import write_private

_KID = re.compile(r"[A-Za-z0-9_-]{1,100}")


class Vault(Protocol):
    """Keeps private keys, and hands them out by name."""

    def find(self, kid: str) -> SigningKey | None:
        """None if it is not there. Raises KeysUnusable."""

    def store(self, key: SigningKey) -> None:
        """Until it is durable. Raises KeysUnusable."""

    def forget(self, kid: str) -> None:
        """Does nothing if it is not there. Raises KeysUnusable."""


class MemoryVault:
    """For a broker that keeps everything in memory."""

    def __init__(self) -> None:
        self._keys: dict[str, SigningKey] = {}

    def find(self, kid: str) -> SigningKey | None:
        return self._keys.get(kid)

    def store(self, key: SigningKey) -> None:
        self._keys[key.kid] = key

    def forget(self, kid: str) -> None:
        self._keys.pop(kid, None)


class FolderVault:
    """The folder `keys` of a data folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "keys"

    def find(self, kid: str) -> SigningKey | None:
        path = self._path(kid)
        try:
            with path.open("rb") as file:
                if os.fstat(file.fileno()).st_mode & 0o077:
                    raise KeysUnusable(f"others than its owner can read {path}: make its mode 0600")
                key = SigningKey.read(msgspec.json.decode(file.read(), type=dict))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise KeysUnusable(f"the key {path} cannot be read: {error.strerror}") from error
        except (ValueError, msgspec.DecodeError) as error:
            raise KeysUnusable(f"the key {path} cannot be understood") from error
        if key.kid != kid:
            raise KeysUnusable(f"the key {path} has the name of another one")
        return key

    def store(self, key: SigningKey) -> None:
        path = self._path(key.kid)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(path, msgspec.json.encode(key.private()))
        except OSError as error:
            raise KeysUnusable(f"the key {path} cannot be written: {error.strerror}") from error

    def forget(self, kid: str) -> None:
        try:
            self._path(kid).unlink(missing_ok=True)
        except OSError as error:
            raise KeysUnusable(f"the key {kid} cannot be removed: {error.strerror}") from error

    def _path(self, kid: str) -> Path:
        if not _KID.fullmatch(kid):
            raise KeysUnusable(f"no key of ours has the name {kid!r}")
        return self._folder / f"{kid}.json"
