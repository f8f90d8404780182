"""The parts of the OpenAPI document for a broker with security: the authorisation server, the paths of administrators,
and how a request shows its token.
"""

from typing import get_args

from tidings.gates.http.monitoring.openapi_parts import (
    TEXT,
    Json,
    array,
    get,
    in_path,
    json_of,
    operation,
    page,
    paging,
    ref,
    struct,
)
from tidings.gates.http.security.authorisation import METADATA
from tidings.protocol.sparql_http import FORM
from tidings.security.keys.signing_key import Algorithm
from tidings.security.oauth.requests import GRANT, JSON

PUBLIC = (
    "/", "/assets/{name}", "/healthz", "/openapi.json",
    "/oauth/register", "/oauth/token", "/oauth/revoke", "/oauth/jwks", METADATA,
)  # fmt: skip
"""For all clients, with or without a token."""
SECURITY: list[Json] = [{"token": []}, {}]
"""The default: a token, or none. A client without a token has the rights that are granted to everybody."""
SCHEMES: Json = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A token of /oauth/token, or of another issuer that the broker knows",
    },
    "client": {"type": "http", "scheme": "basic", "description": "The id and the secret of a client"},
}
_CLIENT: list[Json] = [{"client": []}, {}]
_TOKEN: list[Json] = [{"token": []}]
_YES: Json = {"type": "boolean"}
_INSTANT: Json = {"type": "string", "format": "date-time"}
_NAMES: Json = array(TEXT | {"minLength": 1, "maxLength": 128}) | {"maxItems": 100}
_GRANTED: Json = {"type": "object", "additionalProperties": array(ref("Grant"))}


def paths() -> dict[str, Json]:
    return _server() | _clients() | _grants() | _keys()


def _server() -> dict[str, Json]:
    wanted = struct(client_identity=TEXT, grant_types=array(TEXT))
    login = struct(client_id=TEXT, client_secret=TEXT)["properties"]
    grant: Json = {"grant_type": {"const": GRANT}, "scope": TEXT, **login}
    tokens = {"200": json_of("It, as RFC 6749 has it", ref("Token")), "201": json_of("It", ref("Token"))}
    return {
        "/oauth/register": {
            "post": operation("register", "Register an identity", {"201": json_of("Its secret, once", _registered())})
            | _body({JSON: struct(register=wanted) | {"required": ["register"]}})
        },
        "/oauth/token": {
            "post": operation("token", "Get a token for a client", tokens)
            | _body({FORM: {"type": "object", "properties": grant}, JSON: {}}, required=False)
            | {"security": _CLIENT}
        },
        "/oauth/revoke": {
            "post": operation("revokeToken", "Revoke a token", {"200": json_of("It does not count any more", {})})
            | _body({FORM: {"type": "object", "properties": {"token": TEXT, **login}, "required": ["token"]}})
            | {"security": _CLIENT}
        },
        "/oauth/jwks": {"get": get("jwks", "The public keys of tokens", json_of("A JWKS document", ref("Jwks")))},
        METADATA: {"get": get("metadata", "Where all of this is", json_of("RFC 8414", struct(issuer=TEXT)))},
    }


def _clients() -> dict[str, Json]:
    name = in_path("id", "Its id; may have /")
    enrolment = struct(client_id=TEXT, roles=_NAMES, scopes=_NAMES) | {"required": ["client_id"]}
    assignment = struct(roles=_NAMES, scopes=_NAMES) | {"required": ["roles", "scopes"]}
    credentials = struct(client_id=TEXT, client_secret=TEXT)
    return {
        "/admin/clients": {
            "get": _admin(get("clients", "All clients, a page at a time", page("clients", ref("Client")), *paging())),
            "post": _admin(
                operation("enroll", "Add a client", {"201": json_of("Its secret, which is told once", credentials)}),
            )
            | _body({JSON: enrolment}),
        },
        "/admin/clients/{id}": {
            "parameters": [name],
            "get": _admin(get("client", "One client, and what is granted to it", json_of("It", ref("Client")))),
            "put": _admin(get("assign", "Give it other roles and scopes", json_of("It", ref("Client"))))
            | _body({JSON: assignment}),
            "delete": _admin(get("removeClient", "Remove it", json_of("It was", struct(removed=TEXT)))),
        },
        "/admin/clients/{id}/revoke": {
            "parameters": [name],
            "post": _admin(get("revokeClient", "Revoke all its tokens", json_of("They are", struct(revoked=TEXT)))),
        },
    }


def _grants() -> dict[str, Json]:
    granted = json_of("Those of this name", struct(grants=array(ref("Grant"))))
    granting = struct(grants=array(ref("Grant")) | {"minItems": 1}) | {"required": ["grants"]}
    return {
        "/admin/grants": {
            "get": _admin(get("policy", "All grants, by their names", json_of("Them", struct(grants=_GRANTED))))
        },
        "/admin/grants/{name}": {
            "parameters": [in_path("name", "Their name; `file` for those of the file")],
            "get": _admin(get("grants", "The grants of a name", granted)),
            "put": _admin(get("grant", "Replace the grants of a name", granted)) | _body({JSON: granting}),
            "delete": _admin(get("withdraw", "Remove them", json_of("They are", struct(removed=TEXT)))),
        },
    }


def _keys() -> dict[str, Json]:
    return {
        "/admin/keys": {
            "get": _admin(get("keys", "The keys that count", json_of("Oldest first", struct(keys=array(ref("Key")))))),
            "post": _admin(operation("rotate", "Sign with a new key", {"201": json_of("Its name", struct(kid=TEXT))})),
        },
        "/admin/keys/{kid}": {
            "parameters": [in_path("kid", "Its name")],
            "delete": _admin(get("drop", "Drop it, with all it signed", json_of("It is", struct(dropped=TEXT)))),
        },
    }


def _admin(described: Json) -> Json:
    return described | {"security": _TOKEN}


def _body(schemas: Json, *, required: bool = True) -> Json:
    content = {media_type: {"schema": schema} for media_type, schema in schemas.items()}
    return {"requestBody": {"required": required, "content": content}}


def _registered() -> Json:
    return struct(credentials=struct(client_id=TEXT, client_secret=TEXT, signature={"type": "object"}))


def schemas() -> Json:
    graphs = array(TEXT | {"description": "An IRI, one that ends in *, default or *"}) | {"maxItems": 1000}
    token: Json = {"access_token": TEXT, "token_type": {"const": "bearer"}, "expires_in": {"type": "integer"}}
    client = struct(client_id=TEXT, roles=_NAMES, scopes=_NAMES, registered=_INSTANT, grants=_GRANTED)
    key = struct(kid=TEXT, algorithm={"enum": list(get_args(Algorithm))}, since=_INSTANT, signs=_YES)
    return {
        "Client": client | {"required": ["client_id", "roles", "scopes", "registered"]},
        "Grant": struct(to=TEXT, query=graphs, update=graphs, subscribe=graphs, administer=_YES)
        | {"required": ["to"], "additionalProperties": False},
        "Key": key | {"required": list(key["properties"])},
        "Token": struct(**token, scope=TEXT, token=struct(**token)) | {"required": [*token, "token"]},
        "Jwks": struct(keys=array({"type": "object"})) | {"required": ["keys"]},
    }
