"""Tokens of an OpenID Connect provider count, by its keys, which come and go; it may be away for a while."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from broker.making import Clock
from security.making import House, authority, settings
from security.provider import SecondIssuer, second_issuer
from tidings.model.errors import TidingsError
from tidings.security.issuers.fetching import Fetching
from tidings.security.issuers.provider import ProviderSettings, RoleRule
from tidings.security.keys.signing_key import SigningKey
from waiting import asynchronous

RULES = (
    RoleRule(("realm_access", "roles"), "city-admin", "operators"),
    RoleRule("groups", "lamps", "lamps"),
    RoleRule("kind", "robot", "robots"),
)


@asynccontextmanager
async def with_provider(clock: Clock, **changes: Any) -> AsyncIterator[tuple[House, SecondIssuer]]:
    async with second_issuer() as issuer, Fetching() as fetch:
        given = {"name": "city", "issuer": issuer.url, "audience": "tidings", "role": RULES, "scopes": ("read",)}
        provider = ProviderSettings(**(given | {k: v.format(issuer.url) if isinstance(v, str) else v
                                                for k, v in changes.items()}))  # fmt: skip
        async with authority(clock, settings(provider=(provider,)), fetch=fetch) as house:
            yield house, issuer


async def refusal_of(house: House, token: str) -> tuple[int, str]:
    with pytest.raises(TidingsError) as caught:
        await house.authority.identify(f"Bearer {token}")
    return caught.value.status, caught.value.code


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "Ed25519"])
@asynchronous
async def test_a_token_of_a_provider_counts_and_its_claims_become_roles(algorithm: Any) -> None:
    async with with_provider(Clock()) as (house, issuer):
        issuer.new_key(algorithm)
        token = issuer.token(
            scope="read admin",
            realm_access={"roles": ["x", "city-admin"]},
            groups="lamps others",
            kind="human",
        )
        passport = await house.authority.identify(f"Bearer {token}")
        assert (passport.subject, passport.client, passport.issuer) == ("alice", "city:dashboard", issuer.url)
        assert passport.scopes == {"read"}, "scopes that nobody has allowed do not count"
        assert passport.roles == {"operators", "lamps"}
        assert await house.authority.identify(f"Bearer {token}") is passport
        assert issuer.asked == 1


@asynchronous
async def test_a_client_of_a_provider_is_not_a_client_of_ours_of_the_same_name(clock: Clock) -> None:
    async with with_provider(clock) as (house, issuer):
        await house.register("lamp-1")
        passport = await house.authority.identify(issuer.token(sub="lamp-1", azp="lamp-1"))
        assert passport.client == "city:lamp-1"


@asynchronous
async def test_a_provider_cannot_speak_for_us_nor_another_for_it(clock: Clock) -> None:
    async with with_provider(clock) as (house, issuer):
        ours = issuer.token(iss="https://broker.example.org", aud="https://broker.example.org")
        assert await refusal_of(house, ours) == (401, "invalid_grant")
        assert await refusal_of(house, issuer.token(iss="https://elsewhere")) == (401, "invalid_request")
        assert await refusal_of(house, issuer.token(aud="another application")) == (401, "invalid_request")
        assert await refusal_of(house, issuer.token(exp=1)) == (401, "invalid_grant")
        assert await refusal_of(house, issuer.token(sub=7)) == (401, "invalid_request")
        assert await refusal_of(house, issuer.token(header={"typ": "logout+jwt"})) == (401, "invalid_request")
        stranger = SigningKey.generate("ES256")
        forged = issuer.token(stranger, header={"kid": issuer.keys[0].kid})
        assert await refusal_of(house, forged) == (401, "invalid_grant")


@asynchronous
async def test_a_new_key_is_found_when_the_first_token_comes_that_it_signed(clock: Clock) -> None:
    async with with_provider(clock) as (house, issuer):
        await house.authority.identify(issuer.token())
        clock.pass_by(60)
        issuer.new_key()
        assert (await house.authority.identify(issuer.token())).subject == "alice"
        assert issuer.asked == 2


@asynchronous
async def test_made_up_names_of_keys_do_not_make_us_a_nuisance(clock: Clock) -> None:
    async with with_provider(clock) as (house, issuer):
        await house.authority.identify(issuer.token())
        clock.pass_by(60)
        made_up = [issuer.token(header={"kid": f"made-up-{n}"}) for n in range(20)]
        outcomes = await asyncio.gather(*(refusal_of(house, token) for token in made_up))
        assert set(outcomes) == {(401, "invalid_grant")}
        assert issuer.asked == 2
        assert (await house.authority.identify(issuer.token(jti="x"))).subject == "alice"


@asynchronous
async def test_a_key_that_was_withdrawn_ends_here_within_the_hour(clock: Clock) -> None:
    async with with_provider(clock) as (house, issuer):
        old = issuer.keys[0]
        await house.authority.identify(issuer.token())
        issuer.new_key()
        clock.pass_by(3_601)
        assert await refusal_of(house, issuer.token(old, exp=1_800_010_000)) == (401, "invalid_grant")


@asynchronous
async def test_a_provider_may_be_away_for_a_while(clock: Clock) -> None:
    async with with_provider(clock, absence=10_000.0) as (house, issuer):
        long: dict[str, Any] = {"exp": 1_800_100_000}
        await house.authority.identify(issuer.token(**long))
        issuer.silent = True
        clock.pass_by(3_700)
        assert (await house.authority.identify(issuer.token(jti="a", **long))).subject == "alice"
        assert (await house.authority.identify(issuer.token(jti="b", **long))).subject == "alice"
        assert issuer.asked == 2, "it is not asked again for every token"
        clock.pass_by(60)
        assert await refusal_of(house, issuer.token(header={"kid": "new"}, **long)) == (503, "issuer_unreachable")
        assert await refusal_of(house, issuer.token(header={"kid": "new"}, **long)) == (503, "issuer_unreachable")
        clock.pass_by(10_000)
        assert await refusal_of(house, issuer.token(jti="c", **long)) == (503, "issuer_unreachable")
        issuer.silent = False
        clock.pass_by(11)
        assert (await house.authority.identify(issuer.token(jti="c", **long))).subject == "alice"


@pytest.mark.parametrize(
    ("discovery", "document"),
    [
        ({"issuer": "https://elsewhere"}, None),
        ({"jwks_uri": "http://192.0.2.1/keys"}, None),
        ({"jwks_uri": 7}, None),
        ({}, []),
        ({}, {"keys": {}}),
        ({}, {"keys": "x" * (2 << 20)}),
    ],
    ids=["another issuer", "not https", "no address", "no document", "no list", "too large"],
)
@asynchronous
async def test_documents_of_a_provider_that_are_not_believed(discovery: dict[str, Any], document: Any) -> None:
    async with with_provider(Clock()) as (house, issuer):
        issuer.discovery, issuer.document = discovery, document
        assert await refusal_of(house, issuer.token()) == (503, "issuer_unreachable")


@asynchronous
async def test_redirects_are_not_followed(clock: Clock) -> None:
    async with with_provider(clock, jwks="{}/elsewhere") as (house, issuer):
        assert await refusal_of(house, issuer.token()) == (503, "issuer_unreachable")
        assert issuer.asked == 0


@asynchronous
async def test_keys_can_be_named_without_discovery_and_one_key_needs_no_name(clock: Clock) -> None:
    async with with_provider(clock, jwks="{}/keys") as (house, issuer):
        issuer.discovery = {"issuer": "broken"}
        key = issuer.keys[0]
        issuer.document = {"keys": [{name: value for name, value in key.public().items() if name != "kid"}]}
        assert (await house.authority.identify(issuer.token(header={"kid": ""}))).subject == "alice"


@asynchronous
async def test_keys_that_cannot_verify_are_left_alone(clock: Clock) -> None:
    async with with_provider(clock) as (house, issuer):
        good = issuer.keys[0].public()
        issuer.document = {"keys": [{"kty": "oct", "k": "AAAA", "kid": "s"}, 7, {"kty": "RSA"}, good]}
        assert (await house.authority.identify(issuer.token())).subject == "alice"
