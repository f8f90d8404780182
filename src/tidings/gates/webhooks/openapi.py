"""The paths of web hooks for the OpenAPI description."""

from tidings.gates.http.monitoring.openapi_parts import (
    OBJECT,
    TEXT,
    Json,
    get,
    in_path,
    json_of,
    operation,
    page,
    paging,
)

_HOOK: Json = {
    "type": "object",
    "required": ["sparql"],
    "properties": {
        "url": {"type": "string", "format": "uri"},
        "inbox": {"type": "string", "format": "uri"},
        "sparql": TEXT,
        "alias": TEXT,
        "default-graph-uri": {"type": "array", "items": TEXT},
        "named-graph-uri": {"type": "array", "items": TEXT},
    },
}


def paths() -> dict[str, Json]:
    """By path."""
    one = [in_path("id", "Its identifier")]
    body = {"required": True, "content": {"application/json": {"schema": _HOOK}}}
    made = {"201": json_of("It, with its secret", OBJECT)}
    return {
        "/webhooks": {
            "get": get("webhooks", "Web hooks of one's own, a page at a time", page("webhooks", OBJECT), *paging()),
            "post": operation("makeWebhook", "Have notifications sent to a URL", made) | {"requestBody": body},
        },
        "/webhooks/{id}": {
            "parameters": one,
            "get": get("webhook", "One web hook, and how far it is", json_of("It", OBJECT)),
            "delete": get("endWebhook", "End a web hook", json_of("It, as it was", OBJECT)),
        },
        "/webhooks/{id}/retry": {
            "parameters": one,
            "post": get("retryWebhook", "Try again at once, also one that is parked", json_of("It", OBJECT)),
        },
    }
