"""The vocabulary of the OpenAPI document: operations, parameters, answers and schemas, as OpenAPI 3.1 writes them."""

from typing import Any

Json = dict[str, Any]

TEXT: Json = {"type": "string"}
WHOLE: Json = {"type": "integer", "minimum": 0}
OBJECT: Json = {"type": "object"}


def operation(name: str, summary: str, responses: Json, *parameters: Json) -> Json:
    return {
        "operationId": name,
        "summary": summary,
        "parameters": list(parameters),
        "responses": responses | {"default": {"$ref": "#/components/responses/Error"}},
    }


def get(name: str, summary: str, response: Json, *parameters: Json) -> Json:
    return operation(name, summary, {"200": response}, *parameters)


def parameter(where: str, name: str, text: str, schema: Json) -> Json:
    return {"in": where, "name": name, "description": text, "schema": schema}


def in_query(name: str, text: str, schema: Json) -> Json:
    return parameter("query", name, text, schema)


def in_path(name: str, text: str) -> Json:
    return parameter("path", name, text, TEXT) | {"required": True}


def paging() -> list[Json]:
    limit = {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}
    return [
        in_query("limit", "How many at most", limit),
        in_query("after", "The `after` of the page before", TEXT),
    ]


def content(text: str, schemas: Json) -> Json:
    content = {media_type: {"schema": schema} for media_type, schema in schemas.items()}
    return {"description": text, "content": content}


def json_of(text: str, schema: Json) -> Json:
    return content(text, {"application/json": schema})


def ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def struct(**members: Json) -> Json:
    return {"type": "object", "properties": members}


def array(items: Json) -> Json:
    return {"type": "array", "items": items}


def page(member: str, items: Json, **more: Json) -> Json:
    properties = {"total": WHOLE, member: array(items), "after": TEXT, **more}
    return json_of("A page; `after` is there if there are more", {"type": "object", "properties": properties})
