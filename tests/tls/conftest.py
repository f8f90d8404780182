"""Certificates as `tidings certificates` makes them, once for all tests."""

from pathlib import Path

import pytest

from tls.house import Certificates


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates.made(tmp_path_factory.mktemp("certificates") / "city")


@pytest.fixture(scope="session")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """Those of somebody else."""
    return Certificates.made(tmp_path_factory.mktemp("foreign") / "village")


@pytest.fixture
def own(certificates: Certificates, tmp_path: Path) -> Certificates:
    """A copy that a test may change."""
    return certificates.copied(tmp_path / "own")
