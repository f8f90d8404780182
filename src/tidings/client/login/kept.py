"""Keeps credentials in a file: the id and the secret of a client, and its present token.

The file has mode 0600 from its creation on, and is replaced atomically, so that two programs can share it.
"""

import os
from pathlib import Path
from tempfile import NamedTemporaryFile

import msgspec

from tidings.client.errors import BadCredentials
from tidings.client.login.credentials import Token


class Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    """The content of the file."""

    client_id: str
    client_secret: str
    token: str | None = None
    due: float | None = None

    def __repr__(self) -> str:
        return f"Kept({self.client_id!r})"

    def current(self) -> Token | None:
        return None if self.token is None else Token(self.token, self.due)


def read_kept(path: Path) -> Kept | None:
    """The content of the file; None if it does not exist. Raises BadCredentials."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Kept)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadCredentials(f"{path}: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise BadCredentials(f"{path} is not a file of credentials") from None  # the cause may contain secrets


def write_kept(path: Path, kept: Kept) -> None:
    """Write the file. Raises BadCredentials."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:  # of mode 0600
            try:
                file.write(msgspec.json.encode(kept))
                file.flush()
                os.fsync(file.fileno())
                Path(file.name).replace(path)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        raise BadCredentials(f"{path} cannot be written: {error.strerror}") from error
