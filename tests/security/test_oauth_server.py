"""The authorisation server answers as the clients that exist expect, and as the standard says."""

from urllib.parse import quote_plus, urlencode

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.making import Clock
from security.making import ISSUER, authority, basic, form, login, registration, settings
from tidings.model.errors import TidingsError
from tidings.security.limits import Rate
from tidings.security.oauth.requests import FORM, JSON, OAuthRequest
from tidings.security.oauth.server import AuthorisationServer
from tidings.security.settings import LoginSettings
from tidings.security.tokens.compact import read_token
from waiting import asynchronous


async def refused(server: AuthorisationServer, path: str, request: OAuthRequest) -> tuple[int, str]:
    with pytest.raises(TidingsError) as caught:
        await getattr(server, path)(request)
    envelope = caught.value.to_json()
    assert envelope["error_description"]
    return envelope["status_code"], envelope["error"]


@asynchronous
async def test_whoever_registers_gets_credentials_and_the_public_key(clock: Clock) -> None:
    async with authority(clock) as house:
        answer = await house.authority.server.register(registration("lamp-1"))
        credentials = answer.content["credentials"]
        assert answer.status == 201
        assert credentials["client_id"] == "lamp-1"
        assert len(credentials["client_secret"]) >= 43
        (published,) = house.authority.server.jwks().content["keys"]
        assert credentials["signature"] == published
        assert "d" not in published


@asynchronous
async def test_a_token_comes_in_both_forms(clock: Clock) -> None:
    async with authority(clock) as house:
        secret = await house.register()
        answer = await house.authority.server.token(login("lamp-1", secret))
        token = answer.content["token"]
        assert (answer.status, token["token_type"], token["expires_in"]) == (201, "bearer", 3600)
        assert {name: answer.content[name] for name in token} == token
        claims = read_token(token["access_token"]).claims
        now = clock.micros // 1_000_000
        assert (claims["iss"], claims["aud"], claims["sub"], claims["client_id"]) == (
            ISSUER,
            ISSUER,
            "lamp-1",
            "lamp-1",
        )
        assert (claims["iat"], claims["nbf"], claims["exp"]) == (now, now, now + 3600)
        assert claims["scope"] == "read write"
        passport = await house.authority.identify(f"bearer {token['access_token']}")
        assert passport.client == "lamp-1"
        assert passport.roles == {"lamps"}
        assert passport.scopes == {"read", "write"}


@asynchronous
async def test_what_existing_clients_send_besides_is_ignored(clock: Clock) -> None:
    async with authority(clock) as house:
        body = b'{"register":{"client_identity":"lamp-1","grant_types":["client_credentials"]},"httpsAgent":{"a":[1]}}'
        answer = await house.authority.server.register(registration("", body=body))
        secret = answer.content["credentials"]["client_secret"]
        asked = login("lamp-1", secret, body=b'{"httpsAgent": {}}')
        assert (await house.authority.server.token(asked)).status == 201


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (registration("lamp-1", content_type="text/plain"), (400, "content_type_error")),
        (registration("lamp-1", accept="text/html"), (400, "accept_error")),
        (registration("lamp-1", body=b"{"), (400, "invalid_request")),
        (registration("lamp-1", body=b"[]"), (400, "invalid_request")),
        (registration("lamp-1", body=b"[" * 60_000), (400, "invalid_request")),
        (registration("lamp-1", body=b'{"register":{"client_identity":"lamp-1","grant_types":["implicit"]}}'),
         (400, "invalid_grant")),
        (registration("lamp-1", body=b'{"register":{"client_identity":"lamp-1"}}'), (400, "invalid_grant")),
        (registration("stranger"), (401, "not_authorized_identity")),
        (registration("lamp-1:x"), (401, "not_authorized_identity")),
        (registration("lamp-\n"), (401, "not_authorized_identity")),
        (registration("lamp-" + "x" * 200), (401, "not_authorized_identity")),
        (registration(7), (401, "not_authorized_identity")),
        (registration(None), (401, "not_authorized_identity")),
    ],
    ids=lambda value: "" if isinstance(value, OAuthRequest) else value[1],
)  # fmt: skip
@asynchronous
async def test_registrations_that_are_refused(request_: OAuthRequest, expected: tuple[int, str]) -> None:
    async with authority(Clock()) as house:
        assert await refused(house.authority.server, "register", request_) == expected
        assert not len(house.authority.credentials)


@asynchronous
async def test_an_identity_that_is_registered_is_not_given_away_again(clock: Clock) -> None:
    async with authority(clock) as house:
        secret = await house.register()
        assert await refused(house.authority.server, "register", registration("lamp-1")) == (
            401, "not_authorized_identity",
        )  # fmt: skip
        await house.token("lamp-1", secret)
        await house.authority.credentials.remove("lamp-1")
        assert await refused(house.authority.server, "token", login("lamp-1", secret)) == (400, "unauthorized_client")
        assert await house.register() != secret


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"authorization": None}, (401, "unauthorized_client")),
        ({"authorization": basic("lamp-1", "wrong")}, (400, "unauthorized_client")),
        ({"authorization": basic("lamp-2", "wrong")}, (400, "unauthorized_client")),
        ({"authorization": basic("lamp-1", "x" * 60_000)}, (400, "unauthorized_client")),
        ({"authorization": "Basic !!!"}, (400, "unauthorized_client")),
        ({"authorization": "Basic " + "/" * 12}, (400, "unauthorized_client")),
        ({"authorization": "Bearer x"}, (400, "unauthorized_client")),
        ({"content_type": "text/plain"}, (400, "content_type_error")),
        ({"accept": "text/html"}, (400, "accept_error")),
    ],
)  # fmt: skip
@asynchronous
async def test_wishes_for_tokens_that_are_refused(changes: dict[str, str], expected: tuple[int, str]) -> None:
    async with authority(Clock()) as house:
        request = msgspec.structs.replace(login("lamp-1", await house.register()), **changes)
        assert await refused(house.authority.server, "token", request) == expected


# -- RFC 6749, RFC 7009, RFC 8414 -------------------------------------------------------------------------------


@asynchronous
async def test_standard_clients_authenticate_in_the_header_or_in_the_form(clock: Clock) -> None:
    async with authority(clock) as house:
        server, secret = house.authority.server, await house.register("lamp-a@b/c")
        coded = basic(quote_plus("lamp-a@b/c"), quote_plus(secret))
        in_form = urlencode({"grant_type": "client_credentials", "client_id": "lamp-a@b/c", "client_secret": secret})
        for request in (form("grant_type=client_credentials", coded), form(in_form)):
            answer = await server.token(request)
            assert (answer.status, answer.content["token_type"], answer.content["scope"]) == (
                200, "bearer", "read write",
            )  # fmt: skip
        narrow = await server.token(form("grant_type=client_credentials&scope=read", coded))
        assert narrow.content["scope"] == "read"
        assert (await house.authority.identify(f"Bearer {narrow.content['access_token']}")).scopes == {"read"}


@pytest.mark.parametrize(
    ("body", "authorised", "expected"),
    [
        ("grant_type=password&username=a", True, (400, "unsupported_grant_type")),
        ("scope=read", True, (400, "invalid_request")),
        ("grant_type=client_credentials&grant_type=client_credentials", True, (400, "invalid_request")),
        ("grant_type=client_credentials&client_secret=x", True, (400, "invalid_request")),
        ("&".join(f"a{n}=1" for n in range(100)), True, (400, "invalid_request")),
        ("grant_type=client_credentials&scope=everything", True, (400, "invalid_scope")),
        ("grant_type=client_credentials", False, (401, "invalid_client")),
        ("grant_type=client_credentials&client_id=lamp-1&client_secret=wrong", False, (401, "invalid_client")),
        ("grant_type=client_credentials&client_id=nobody&client_secret=wrong", False, (401, "invalid_client")),
    ],
)
@asynchronous
async def test_standard_wishes_that_are_refused(body: str, authorised: bool, expected: tuple[int, str]) -> None:
    async with authority(Clock()) as house:
        secret = await house.register()
        request = form(body, basic("lamp-1", secret) if authorised else None)
        assert await refused(house.authority.server, "token", request) == expected


@asynchronous
async def test_a_client_revokes_its_own_tokens_and_no_others(clock: Clock) -> None:
    async with authority(clock) as house:
        server, mine, others = house.authority.server, await house.register("lamp-1"), await house.register("lamp-2")
        first, second = await house.token("lamp-1", mine), await house.token("lamp-1", mine)
        assert (await house.authority.identify(f"Bearer {first}")).client == "lamp-1"
        assert await refused(server, "revoke", form(f"token={first}", basic("lamp-2", others))) == (
            400, "unauthorized_client",
        )  # fmt: skip
        assert (await server.revoke(form(f"token={first}", basic("lamp-1", mine)))).status == 200
        assert (await server.revoke(form(f"token={first}", basic("lamp-1", mine)))).status == 200
        assert (await server.revoke(form("token=nonsense", basic("lamp-1", mine)))).status == 200
        with pytest.raises(TidingsError) as caught:
            await house.authority.identify(f"Bearer {first}")
        assert caught.value.to_json()["error"] == "invalid_grant"
        assert (await house.authority.identify(f"Bearer {second}")).client == "lamp-1"
        assert await refused(server, "revoke", form("token=x", basic("lamp-1", "wrong"))) == (401, "invalid_client")


@asynchronous
async def test_the_metadata_says_where_everything_is(clock: Clock) -> None:
    async with authority(clock) as house:
        metadata = house.authority.server.metadata().content
        assert metadata["issuer"] == ISSUER
        assert metadata["token_endpoint"] == f"{ISSUER}/oauth/token"
        assert metadata["jwks_uri"] == f"{ISSUER}/oauth/jwks"
        assert metadata["response_types_supported"] == []


# -- limits and the audit -----------------------------------------------------------------------------------------


@asynchronous
async def test_attempts_are_limited_by_client_whatever_the_address(clock: Clock) -> None:
    limits = LoginSettings(by_address=Rate(1_000, 1), by_client=Rate(3, 0.1))
    async with authority(clock, settings(logins=limits)) as house:
        secret = await house.register()
        for number in range(3):
            wrong = login("lamp-1", "wrong", address=f"198.51.100.{number}")
            assert await refused(house.authority.server, "token", wrong) == (400, "unauthorized_client")
        right = login("lamp-1", secret, address="198.51.100.77")
        assert await refused(house.authority.server, "token", right) == (429, "too_many_attempts")
        clock.pass_by(10)
        assert (await house.authority.server.token(right)).status == 201


@asynchronous
async def test_a_hundred_thousand_made_up_clients_take_no_memory_and_nobodys_limit(clock: Clock) -> None:
    limits = LoginSettings(by_address=Rate(10, 0.001), by_client=Rate(3, 0.001))
    async with authority(clock, settings(logins=limits)) as house:
        server = house.authority.server
        await house.register()
        for _ in range(3):
            assert (await refused(server, "token", login("lamp-1", "wrong", address="198.51.100.1")))[0] == 400
        outcomes = [
            await refused(server, "token", login(f"made-up-{number}", "x", address="198.51.100.2"))
            for number in range(100_000)
        ]
        assert outcomes.count((400, "unauthorized_client")) == 10
        assert outcomes.count((429, "too_many_attempts")) == 99_990
        assert len(house.authority.credentials) == 1
        assert len(server.by_client) == 1
        assert len(server.by_address) == 3
        still = login("lamp-1", "wrong", address="198.51.100.3")
        assert await refused(server, "token", still) == (429, "too_many_attempts")


@asynchronous
async def test_the_audit_has_every_decision_and_no_secret(clock: Clock) -> None:
    async with authority(clock) as house:
        secret = await house.register()
        token = await house.token("lamp-1", secret)
        await refused(house.authority.server, "token", login("lamp-1", "hunter2"))
        await refused(house.authority.server, "register", registration("stranger"))
        told = [(event.what, event.who, event.decision, event.reason) for event in house.events]
        assert told[1:] == [
            ("register", "lamp-1", "allowed", ""),
            ("token", "lamp-1", "allowed", ""),
            ("token", "lamp-1", "refused", "unauthorized_client"),
            ("register", "stranger", "refused", "not_authorized_identity"),
        ]
        everything = repr(house.events) + repr(house.pages.written) + repr(list(house.authority.credentials))
        for hidden in (secret, "hunter2", token, token.rpartition(".")[2]):
            assert hidden not in everything


@asynchronous
async def test_a_registration_that_cannot_be_written_leaves_nothing(clock: Clock) -> None:
    async with authority(clock) as house:
        house.pages.full = True
        assert (await refused(house.authority.server, "register", registration("lamp-1")))[1] == "cannot_connect"
        house.pages.full = False
        await house.register()


headers = st.one_of(st.text(max_size=60), st.sampled_from([JSON, FORM, "Basic OjpY", "Basic ", "Bearer x", "*/*"]))
bodies = st.one_of(
    st.binary(max_size=200),
    st.dictionaries(st.text(max_size=20), st.text(max_size=20), max_size=4).map(lambda form: urlencode(form).encode()),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=9),
        lambda inner: st.dictionaries(st.sampled_from(["register", "client_identity", "grant_types"]), inner),
    ).map(msgspec.json.encode),
)


@given(st.builds(OAuthRequest, bodies, headers, headers, st.none() | headers, st.text(max_size=40)))
@asynchronous
async def test_whatever_is_sent_the_answer_is_a_refusal_that_says_why(request_: OAuthRequest) -> None:
    async with authority(Clock()) as house:
        for path in ("register", "token", "revoke"):
            status, code = await refused(house.authority.server, path, request_)
            assert 400 <= status < 500
            assert code != "internal_error"
