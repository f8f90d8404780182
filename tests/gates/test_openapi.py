"""The OpenAPI document says what is served, all of it, and nothing else."""

import re
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate
from starlette.routing import Route

from gates.doors import built, indoors
from gates.secured import secured
from tidings.gates.http.monitoring.openapi import openapi
from waiting import asynchronous

METHODS = {"get", "head", "post", "put", "delete", "options", "patch", "trace"}
PATHS: dict[str, dict[str, Any]] = openapi(secured=True)["paths"]
OPEN: dict[str, dict[str, Any]] = openapi()["paths"]
BODILESS = {"/admin/clients/{id}/revoke", "/admin/keys", "/reconcile"}
"""What is posted without anything to say."""


def template(path: str) -> str:
    """A path as OpenAPI writes it."""
    return re.sub(r"\{(\w+):\w+\}", r"{\1}", path)


def references(part: object) -> list[str]:
    if isinstance(part, dict):
        own = [part["$ref"]] if "$ref" in part else []
        return own + [found for value in part.values() for found in references(value)]
    return [found for value in part for found in references(value)] if isinstance(part, list) else []


def methods(paths: dict[str, dict[str, Any]]) -> dict[str, set[str]]:
    return {path: {method.upper() for method in METHODS & item.keys()} for path, item in paths.items()}


@asynchronous
async def test_every_route_is_described_with_its_methods_and_nothing_else_is() -> None:
    async with built() as (_, gate, _):
        app = gate.app()
        routes = {template(each.path): each.methods for each in app.routes if isinstance(each, Route)}
    assert methods(OPEN) == routes


@asynchronous
async def test_so_is_every_route_of_a_broker_with_security(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        own = [each for each in house.security.routes() if isinstance(each, Route)]
        served = (await house.http.get("/openapi.json")).json()
    assert methods(PATHS) == methods(OPEN) | {template(each.path): each.methods for each in own}
    assert served == openapi(secured=True)


@asynchronous
async def test_what_the_document_says_is_for_everybody_is_so_and_the_rest_asks_for_a_token(tmp_path: Path) -> None:
    async with secured(tmp_path) as house:
        for path, item in PATHS.items():
            for method in {"get", "delete"} & item.keys():
                answer = await house.http.request(method, path.replace("{", "").replace("}", ""))
                assert (answer.status_code == 401) == (item[method].get("security") != []), path


@asynchronous
async def test_the_document_is_served() -> None:
    async with indoors() as house:
        answer = await house.get("/openapi.json")
        assert answer.headers["content-type"] == "application/json"
        assert answer.json() == openapi()


@pytest.mark.parametrize("path", PATHS)
def test_every_operation_has_a_name_a_summary_and_an_answer_for_errors(path: str) -> None:
    for method in METHODS & PATHS[path].keys():
        operation = PATHS[path][method]
        assert operation["operationId"]
        assert operation["summary"]
        assert "default" in operation["responses"] or method == "options"
        assert ("requestBody" in operation) == (method in {"post", "put"} and path not in BODILESS)


@pytest.mark.parametrize("path", PATHS)
def test_every_parameter_of_a_path_is_described(path: str) -> None:
    shared = PATHS[path].get("parameters", [])
    named = {parameter["name"] for parameter in shared if parameter["in"] == "path"}
    assert named == set(re.findall(r"\{(\w+)\}", path))


def test_names_of_operations_are_unique() -> None:
    names = [item[method]["operationId"] for item in PATHS.values() for method in METHODS & item.keys()]
    assert len(names) == len(set(names))


def test_references_lead_somewhere() -> None:
    document = openapi(secured=True)
    for reference in references(document):
        part: Any = document
        for step in reference.removeprefix("#/").split("/"):
            part = part[step]
        assert part


def test_the_document_is_valid_openapi() -> None:
    validate(openapi())
    validate(openapi(secured=True))
