"""SEPA's files that say where an endpoint is."""

from pathlib import Path

import pytest

from tidings.endpoint.jpar import Addresses, BadEndpointFile, addresses_of, read_jpar

NEW = """{"host": "localhost", "sparql11protocol": {"protocol": "http", "port": 8890,
 "query": {"path": "/sparql", "method": "URL_ENCODED_POST", "format": "JSON"},
 "update": {"path": "/sparql-auth", "method": "URL_ENCODED_POST", "format": "JSON"}}}"""
OLD = {
    "parameters": {
        "host": "store.example",
        "ports": {"https": 443},
        "scheme": "https",
        "paths": {"query": "q", "update": "u"},
    }
}


def test_both_forms_are_read(tmp_path: Path) -> None:
    (tmp_path / "endpoint.jpar").write_text(NEW)
    there = "http://localhost:8890"
    assert read_jpar(tmp_path / "endpoint.jpar") == Addresses(f"{there}/sparql", f"{there}/sparql-auth")
    assert addresses_of(OLD) == Addresses("https://store.example:443/q", "https://store.example:443/u")
    bare = {"host": "h", "sparql11protocol": {"port": -1, "query": {"path": "/q"}, "update": {"path": "/u"}}}
    assert addresses_of(bare) == Addresses("http://h/q", "http://h/u")


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "no JSON object"),
        ({}, "host"),
        ({"host": "h", "sparql11protocol": {"protocol": "ws"}}, "not over ws"),
        ({"host": "h", "sparql11protocol": {"port": 0}}, "no port"),
        ({"host": "h", "sparql11protocol": {"query": {"path": "/q"}}}, "path of updates"),
    ],
)
def test_what_is_wrong_is_said(document: object, said: str) -> None:
    with pytest.raises(BadEndpointFile, match=said):
        addresses_of(document)


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "endpoint.jpar").write_text("{")
    with pytest.raises(BadEndpointFile, match="is not JSON"):
        read_jpar(tmp_path / "endpoint.jpar")
    with pytest.raises(BadEndpointFile, match="cannot be read"):
        read_jpar(tmp_path / "missing.jpar")
