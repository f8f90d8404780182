"""Checks whether the Spark master answers. Without this check, Spark would report nothing for minutes."""

import os
import re
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

from tidings.spark.errors import SparkFailed

PATIENCE = 10.0
"""Seconds that a master may take to answer."""

_MASTER = re.compile(r"local(-cluster)?(\[[^]]+\])?|spark://.+|yarn|k8s://.+")


def check_master(master: str, patience: float = PATIENCE) -> None:
    """Raise SparkFailed if there is no such master, or if it does not answer."""
    if not _MASTER.fullmatch(master):
        raise SparkFailed(f"there is no master {master!r}: say local[*], spark://HOST:PORT, yarn or k8s://ADDRESS")
    if master == "yarn" and not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
        raise SparkFailed("the master yarn is found through HADOOP_CONF_DIR, and that is not set")
    addresses = list(_addresses(master))
    reasons = [reason for host, port in addresses if (reason := _silence(host, port, patience / len(addresses)))]
    if addresses and len(reasons) == len(addresses):
        raise SparkFailed(f"nobody answers at the master {master}: {'; '.join(reasons)}")


def _addresses(master: str) -> Iterator[tuple[str, int]]:
    """The addresses of a master; there are several in `spark://A:1,B:2`, one of which has to answer."""
    kind, _, rest = master.partition("://")
    for each in rest.split(",") if kind == "spark" else [rest] if kind == "k8s" else []:
        url = urlsplit(each if "://" in each else f"{kind}://{each}")
        try:
            port = url.port or {"spark": 7077, "http": 80}.get(url.scheme, 443)
        except ValueError:
            port = 0
        if not url.hostname or not port:
            raise SparkFailed(f"{each!r} of the master {master} is no address: say HOST:PORT")
        yield url.hostname, port


def _silence(host: str, port: int, patience: float) -> str | None:
    """Why an address cannot be reached; None if it can."""
    try:
        socket.create_connection((host, port), patience).close()
    except TimeoutError:
        return f"{host}:{port} did not answer in {patience:g} s"
    except OSError as error:
        return f"{host}:{port}: {error.strerror or error}"
    return None
