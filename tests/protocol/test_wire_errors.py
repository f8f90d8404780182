"""Errors as documents and back; and nobody takes data out of a text that is for people."""

import ast
from pathlib import Path

import orjson
import pytest

import tidings
from tidings.gates.errors import BodyTooLarge
from tidings.log.errors import HistoryGone
from tidings.model.errors import NotFound, RowLimitExceeded, SparqlSyntaxError, TidingsError, TimeLimitExceeded
from tidings.protocol.echo import Echo
from tidings.protocol.errors import Refusal, decode_error

SOURCE = Path(tidings.__file__).parent
READERS = {Path("protocol/errors.py"), Path("client/errors.py")}
"""Who makes an error of a document: the protocol's decoder, and what the client library raises."""


@pytest.mark.parametrize(
    ("error", "data"),
    [
        (NotFound("no such thing"), {}),
        (SparqlSyntaxError("oops", line=3, column=14, expected="'}'"), {"line": 3, "column": 14, "expected": "'}'"}),
        (HistoryGone(4, 42), {"oldest": 42}),
        (TimeLimitExceeded(2.5), {"seconds": 2.5}),
        (RowLimitExceeded(1000), {"rows": 1000}),
        (BodyTooLarge(10), {"max_body": 10}),
    ],
)
def test_an_error_keeps_its_data_on_the_way(error: TidingsError, data: dict[str, object]) -> None:
    refusal = Refusal(error.code, error.status, str(error), data, "a", "s")
    assert Refusal.of(error, Echo("a", "s")) == refusal
    assert decode_error(orjson.dumps(refusal.to_json())) == refusal
    assert decode_error(orjson.dumps(error.to_json())) == Refusal(error.code, error.status, str(error), data)


@pytest.mark.parametrize("document", [b"", b"<html>", b"[]", b'"error"', b"{}", b'{"results":{}}', b"\xff"])
def test_a_document_that_tells_of_no_error_is_none(document: bytes) -> None:
    assert decode_error(document) is None


def test_an_error_without_a_status_has_that_of_its_answer() -> None:
    assert decode_error(b'{"error":"busy"}', 503) == Refusal("busy", 503, "busy")


def test_the_errors_of_the_first_brokers_are_understood() -> None:
    refusal = decode_error(b'{"error":{"body":"no","code":400},"alias":"a"}')
    assert refusal == Refusal("refused", 400, "no", alias="a")


def reads_description(node: ast.AST) -> bool:
    """`x["error_description"]` or `x.get("error_description")`, and not the making of such a document."""
    match node:
        case ast.Subscript(slice=ast.Constant("error_description"), ctx=ast.Load()):
            return True
        case ast.Call(func=ast.Attribute(attr="get" | "pop"), args=[ast.Constant("error_description"), *_]):
            return True
        case ast.MatchMapping(keys=keys):
            return any(isinstance(key, ast.Constant) and key.value == "error_description" for key in keys)
        case _:
            return False


def test_only_decoders_of_errors_read_descriptions() -> None:
    found = {
        path.relative_to(SOURCE)
        for path in SOURCE.rglob("*.py")
        if "error_description" in (text := path.read_text("utf-8"))
        and any(reads_description(node) for node in ast.walk(ast.parse(text)))
    }
    assert Path("protocol/errors.py") in found
    assert found <= READERS
