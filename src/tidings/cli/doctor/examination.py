"""Runs all checks, in the order in which a user would fix what they find."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from tidings.cli.doctor import certificate, folder, java, lake, machine, packages, ports, words
from tidings.cli.doctor.finding import Finding
from tidings.extras import EXTRAS
from tidings.lexicons.backends import Backend
from tidings.server.config import Settings


def examine(settings: Settings) -> Iterator[Finding]:
    """The findings about this machine, and about a broker with these settings on it."""
    known = packages.requirements()
    spark = packages.installed("pyspark") is not None
    needs = (
        ("spark", settings.deliver),
        ("spark", settings.lake),
        ("gates", settings.mqtt),
        ("gates", settings.coap_port),
        ("gates", settings.mcp or None),
        ("minilm", True if settings.matching == Backend.MINILM else None),
    )
    wanted = {extra for extra, setting in needs if setting is not None}
    yield packages.check_tidings(packages.installed("tidings"))
    yield packages.check_python()
    yield packages.check_packages(known)
    for name in EXTRAS:
        yield packages.check_extra(name, known, wanted=name in wanted)
    if settings.wordnet is not None or packages.installed("wordllama") is not None:
        yield words.check_wordnet(settings.wordnet)
    if settings.moby is not None or packages.installed("wordllama") is not None:
        yield words.check_moby(settings.moby)
    yield packages.check_matplotlib()
    yield java.check_java(spark=spark)
    if ports.has_plain(settings):
        yield ports.check_http_port(settings)
        yield ports.check_ws_port(settings)
    if settings.tls_certificate is not None:
        yield certificate.check_certificate(settings, datetime.now(UTC))
        yield ports.check_https_port(settings)
        yield ports.check_wss_port(settings)
    yield folder.check_folder(settings)
    if not settings.memory:
        yield folder.check_disk(settings)
    if settings.lake is not None and packages.installed("msgspec") is not None:
        yield lake.check_lake(Path(settings.lake))
    yield machine.check_files(settings)
    yield machine.check_memory(spark=spark)
    yield machine.check_clock(folder.last_written(settings))
