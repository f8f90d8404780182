"""A second issuer: an OpenID Connect provider on a port of the loopback interface, which can fall silent."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from joserfc import jws
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gates.doors import Server
from tidings.security.keys.signing_key import Algorithm, SigningKey
from waiting import PATIENCE, until


class SecondIssuer:
    """Publishes its keys, counts who asks for them, and signs whatever it is told to."""

    def __init__(self) -> None:
        self.url = ""
        self.keys: list[SigningKey] = []
        self.asked = 0
        self.silent = False
        self.discovery: dict[str, Any] = {}
        self.document: Any = None

    def new_key(self, algorithm: Algorithm = "ES256") -> SigningKey:
        key = SigningKey.generate(algorithm)
        self.keys = [key]
        return key

    def token(self, key: SigningKey | None = None, header: dict[str, Any] | None = None, **claims: Any) -> str:
        key = key or self.keys[-1]
        said = {"iss": self.url, "aud": "tidings", "sub": "alice", "azp": "dashboard", "exp": 1_800_000_300} | claims
        whole = {"alg": key.algorithm, "kid": key.kid, "typ": "JWT"} | (header or {})
        return jws.serialize_compact(whole, json.dumps(said), key.key, algorithms=[key.algorithm])

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._discovery),
                Route("/keys", self._keys),
                Route("/elsewhere", lambda _: Response(status_code=302, headers={"location": "/keys"})),
            ]
        )

    async def _discovery(self, _: Request) -> Response:
        return JSONResponse({"issuer": self.url, "jwks_uri": f"{self.url}/keys"} | self.discovery)

    async def _keys(self, _: Request) -> Response:
        self.asked += 1
        if self.silent:
            return Response("out of order", 500)
        if self.document is not None:
            return JSONResponse(self.document)
        return JSONResponse({"keys": [key.public() for key in self.keys]})


@asynccontextmanager
async def second_issuer() -> AsyncIterator[SecondIssuer]:
    issuer = SecondIssuer()
    server = Server(uvicorn.Config(issuer.app(), port=0, lifespan="off", log_config=None, ws="none"))
    serving = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    issuer.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    issuer.new_key()
    try:
        yield issuer
    finally:
        server.should_exit = True
        async with asyncio.timeout(PATIENCE):
            await serving
