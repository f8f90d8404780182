"""Tokens that somebody has made up, altered, kept too long or taken from elsewhere: each is refused, and says why."""

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jws

from broker.making import Clock
from security.making import ISSUER, House, authority, settings
from tidings.model.errors import TidingsError
from tidings.security.errors import InvalidRequest
from tidings.security.keys.signing_key import SigningKey
from tidings.security.passport import ANONYMOUS
from tidings.security.settings import TokenSettings
from tidings.security.tokens.compact import read_token
from waiting import asynchronous

FOREIGN = SigningKey.generate("Ed25519")


def coded(content: object) -> str:
    text = content if isinstance(content, str) else json.dumps(content)
    return urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def parts_of(token: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    token_ = read_token(token)
    return token_.header, token_.claims, token.rpartition(".")[2]


async def refusal_of(house: House, token: str) -> str:
    with pytest.raises(TidingsError) as caught:
        await house.authority.identify(f"Bearer {token}")
    assert caught.value.status == 401
    assert house.authority.recall(token) is None
    return caught.value.code


async def signed(house: House, header: dict[str, Any] | None = None, **claims: Any) -> str:
    """A token like one of ours, with other claims, and really signed by us."""
    _, ours, _ = parts_of(await house.newcomer())
    key = house.authority.keys.signing
    assert key is not None
    said = {name: value for name, value in (ours | claims).items() if value is not ...}
    whole = {"alg": key.algorithm, "kid": key.kid, "typ": "at+jwt"} | (header or {})
    return jws.serialize_compact(whole, json.dumps(said), key.key, algorithms=[key.algorithm])


@asynchronous
async def test_a_token_of_ours_counts_until_it_has_expired(clock: Clock) -> None:
    async with authority(clock) as house:
        token = await house.newcomer()
        clock.pass_by(3_629.9)
        assert (await house.authority.identify(f"Bearer {token}")).client == "lamp-1"
        clock.pass_by(0.2)
        assert await refusal_of(house, token) == "invalid_grant"


@asynchronous
async def test_a_token_that_is_remembered_expires_as_well(clock: Clock) -> None:
    async with authority(clock, settings(tokens=TokenSettings(leeway=0, algorithm="Ed25519"))) as house:
        token = await house.newcomer()
        passport = await house.authority.identify(f"Bearer {token}")
        clock.pass_by(3_599)
        assert house.authority.recall(token) is passport
        clock.pass_by(2)
        assert await refusal_of(house, token) == "invalid_grant"


@pytest.mark.parametrize("algorithm", ["none", "None", "nOnE", "HS256", "RS256", ""])
@asynchronous
async def test_a_token_cannot_choose_its_algorithm(algorithm: str) -> None:
    async with authority(Clock()) as house:
        header, claims, signature = parts_of(await house.newcomer())
        for rest in (signature, coded("x")):
            token = f"{coded(header | {'alg': algorithm})}.{coded(claims)}.{rest}"
            assert await refusal_of(house, token) == "invalid_grant"
        assert await refusal_of(house, f"{coded(header | {'alg': algorithm})}.{coded(claims)}.") == "invalid_request"


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "Ed25519"])
@asynchronous
async def test_our_public_key_is_no_shared_secret(algorithm: Any) -> None:
    async with authority(Clock(), settings(tokens=TokenSettings(algorithm=algorithm))) as house:
        header, claims, _ = parts_of(await house.newcomer())
        key = house.authority.keys.signing
        assert key is not None
        text = f"{coded(header | {'alg': 'HS256'})}.{coded(claims)}"
        for secret in (key.key.as_pem(private=False), key.key.as_der(private=False), json.dumps(key.public()).encode()):
            forged = f"{text}.{coded_bytes(hmac.digest(secret, text.encode(), 'sha256'))}"
            assert await refusal_of(house, forged) == "invalid_grant"


def coded_bytes(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


@asynchronous
async def test_a_key_within_the_token_is_not_asked_for_its_opinion(clock: Clock) -> None:
    async with authority(clock) as house:
        _, claims, _ = parts_of(await house.newcomer())
        ours = house.authority.keys.signing
        assert ours is not None
        for kid in (ours.kid, FOREIGN.kid, "../../etc/passwd", "' OR 1=1"):
            header = {"alg": "Ed25519", "kid": kid, "typ": "at+jwt", "jwk": FOREIGN.public(), "jku": f"{ISSUER}/x"}
            forged = jws.serialize_compact(header, json.dumps(claims), FOREIGN.key, algorithms=["Ed25519"])
            assert await refusal_of(house, forged) == "invalid_grant"


@asynchronous
async def test_a_payload_that_was_changed_is_noticed(clock: Clock) -> None:
    async with authority(clock) as house:
        token = await house.newcomer()
        header, claims, signature = parts_of(token)
        for change in ({"sub": "operator", "client_id": "operator"}, {"exp": claims["exp"] + 1}, {"scope": "admin"}):
            assert await refusal_of(house, f"{coded(header)}.{coded(claims | change)}.{signature}") == "invalid_grant"


@asynchronous
async def test_every_character_of_a_token_counts(clock: Clock) -> None:
    async with authority(clock) as house:
        token = await house.newcomer()
        for place in range(0, len(token), 7):
            other = "A" if token[place] != "A" else "B"
            assert await refusal_of(house, token[:place] + other + token[place + 1 :]) in (
                "invalid_grant", "invalid_request",
            )  # fmt: skip
        for end in range(0, len(token), 13):
            assert await refusal_of(house, token[:end] or ".") in ("invalid_grant", "invalid_request")
        assert await refusal_of(house, token + "=") == "invalid_grant"


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ({"exp": 1}, "invalid_grant"),
        ({"exp": ...}, "invalid_request"),
        ({"exp": "tomorrow"}, "invalid_request"),
        ({"exp": True}, "invalid_request"),
        ({"exp": None}, "invalid_request"),
        ({"exp": 10**30}, "invalid_request"),
        ({"nbf": 1_800_000_031}, "invalid_grant"),
        ({"iat": 1_800_000_031}, "invalid_grant"),
        ({"iss": "https://elsewhere.example.org"}, "invalid_request"),
        ({"iss": ISSUER + "/"}, "invalid_request"),
        ({"iss": [ISSUER]}, "invalid_request"),
        ({"iss": ...}, "invalid_request"),
        ({"aud": "https://elsewhere.example.org"}, "invalid_request"),
        ({"aud": ["a", "b"]}, "invalid_request"),
        ({"aud": [ISSUER, 7]}, "invalid_request"),
        ({"aud": {ISSUER: 1}}, "invalid_request"),
        ({"aud": ...}, "invalid_request"),
        ({"sub": 7}, "invalid_request"),
        ({"sub": ["lamp-1"]}, "invalid_request"),
        ({"sub": ""}, "invalid_request"),
        ({"sub": "x" * 1_000}, "invalid_request"),
        ({"sub": "operator"}, "invalid_grant"),
        ({"client_id": "operator"}, "invalid_grant"),
        ({"jti": ...}, "invalid_request"),
        ({"gen": 0}, "invalid_grant"),
        ({"gen": ...}, "invalid_grant"),
        ({"scope": 7}, "invalid_request"),
    ],
)
@asynchronous
async def test_claims_that_do_not_count_although_they_are_signed(claims: dict[str, Any], code: str) -> None:
    async with authority(Clock()) as house:
        assert await refusal_of(house, await signed(house, **claims)) == code


@asynchronous
async def test_clocks_may_differ_by_the_leeway(clock: Clock) -> None:
    async with authority(clock) as house:
        assert await house.authority.identify(await signed(house, nbf=1_800_000_030, iat=1_800_000_030))


@asynchronous
async def test_a_scope_that_a_client_does_not_have_is_none_even_if_it_is_signed(clock: Clock) -> None:
    async with authority(clock) as house:
        passport = await house.authority.identify(f"Bearer {await signed(house, scope='read everything')}")
        assert passport.scopes == {"read"}


@pytest.mark.parametrize("kind", ["JWT", "logout+jwt", "", 7])
@asynchronous
async def test_what_is_signed_for_another_purpose_is_no_access_token(kind: Any) -> None:
    async with authority(Clock()) as house:
        _, claims, _ = parts_of(await house.newcomer())
        key = house.authority.keys.signing
        assert key is not None
        token = signed_anyhow({"alg": key.algorithm, "kid": key.kid, "typ": kind}, json.dumps(claims), key)
        assert await refusal_of(house, token) in ("invalid_request", "invalid_grant")


def signed_anyhow(header: dict[str, Any], payload: str, key: SigningKey) -> str:
    """Signed without a look at what is signed."""
    text = f"{coded(header)}.{coded(payload)}"
    signature = key.key.private_key.sign(text.encode())
    return f"{text}.{coded_bytes(signature)}"


@pytest.mark.parametrize(
    "payload",
    [
        '{"sub":"lamp-1",%s,"sub":"operator"}',
        '{%s,"sub":"lamp-1","extra":{"a":1,"a":2}}',
        '{%s,"sub":"lamp-1","extra":NaN}',
        "[%s]",
        "7 %.0s",
        '{"a":' * 3_000 + "1 %.0s",
        '{%s,"sub":"lamp-1","extra":"\ud800"',
    ],
    ids=["twice", "twice within", "no number", "no object", "a number", "deep", "cut"],
)
@asynchronous
async def test_payloads_that_readers_of_json_might_take_for_different_things(payload: str) -> None:
    async with authority(Clock()) as house:
        header, claims, _ = parts_of(await house.newcomer())
        del claims["sub"]
        key = house.authority.keys.signing
        assert key is not None
        text = payload % json.dumps(claims)[1:-1]
        token = signed_anyhow(header, text.encode("utf-8", "surrogatepass").decode("utf-8", "replace"), key)
        assert await refusal_of(house, token) == "invalid_request"


@pytest.mark.parametrize("extension", [{"crit": ["exp"], "exp": 1}, {"b64": False, "crit": ["b64"]}])
@asynchronous
async def test_extensions_that_must_be_understood_are_not(extension: dict[str, Any]) -> None:
    async with authority(Clock()) as house:
        header, claims, _ = parts_of(await house.newcomer())
        key = house.authority.keys.signing
        assert key is not None
        assert await refusal_of(house, signed_anyhow(header | extension, json.dumps(claims), key)) == "invalid_request"


@asynchronous
async def test_a_token_of_megabytes_is_not_read(clock: Clock) -> None:
    async with authority(clock) as house:
        assert await refusal_of(house, "a." + "b" * 5_000_000 + ".c") == "invalid_request"


@given(st.text(max_size=200) | st.from_regex(r"[A-Za-z0-9_-]{0,40}\.[A-Za-z0-9_-]{0,40}\.[A-Za-z0-9_-]{0,40}"))
def test_whatever_is_sent_is_read_or_refused(text: str) -> None:
    try:
        read_token(text)
    except InvalidRequest:
        pass
    else:
        assert isinstance(json.loads(urlsafe_b64decode(text.split(".", maxsplit=1)[0] + "===")), dict)


# -- headers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shown", ["Bearer {}", "bearer {}", "BEARER  {} ", "{}"])
@asynchronous
async def test_ways_to_show_a_token(shown: str) -> None:
    async with authority(Clock()) as house:
        assert (await house.authority.identify(shown.format(await house.newcomer()))).client == "lamp-1"


@pytest.mark.parametrize(
    ("shown", "code"),
    [
        ("", "invalid_request"),
        ("Bearer", "invalid_request"),
        ("Bearer ", "invalid_request"),
        ("nonsense", "invalid_request"),
        ("Bearer nonsense", "invalid_request"),
        ("Basic bGFtcC0xOng=", "unsupported_grant_type"),
        ("Digest username=x", "unsupported_grant_type"),
    ],
)
@asynchronous
async def test_headers_without_a_token(shown: str, code: str) -> None:
    async with authority(Clock()) as house:
        with pytest.raises(TidingsError) as caught:
            await house.authority.identify(shown)
        assert (caught.value.status, caught.value.code) == (401, code)


@asynchronous
async def test_whoever_shows_nothing_is_anonymous(clock: Clock) -> None:
    async with authority(clock) as house:
        assert await house.authority.identify(None) is ANONYMOUS


# -- revocation -------------------------------------------------------------------------------------------------


@asynchronous
async def test_all_tokens_of_a_client_can_be_revoked_at_once_and_new_ones_count_at_once(clock: Clock) -> None:
    async with authority(clock) as house:
        secret = await house.register()
        old = await house.token("lamp-1", secret)
        await house.authority.identify(old)
        await house.authority.credentials.revoke("lamp-1")
        new = await house.token("lamp-1", secret)  # in the same second
        assert await refusal_of(house, old) == "invalid_grant"
        assert (await house.authority.identify(new)).client == "lamp-1"


@asynchronous
async def test_tokens_of_a_client_that_was_removed_do_not_come_back_with_its_name(clock: Clock) -> None:
    async with authority(clock) as house:
        old = await house.newcomer()
        await house.authority.identify(old)
        await house.authority.credentials.remove("lamp-1")
        assert await refusal_of(house, old) == "invalid_grant"
        clock.pass_by(0.001)
        new = await house.newcomer()
        assert await refusal_of(house, old) == "invalid_grant"
        assert (await house.authority.identify(new)).client == "lamp-1"


@asynchronous
async def test_revocations_are_forgotten_once_the_tokens_have_expired(clock: Clock) -> None:
    async with authority(clock) as house:
        revocations = house.authority.revocations
        for number in range(5_000):
            await house.pages.write(revocations.revocation(f"token-{number}", clock.micros + 1_000_000))
            clock.pass_by(1)
        assert len(revocations) < 1_200
        assert len(list(revocations.notes())) <= 40


@asynchronous
async def test_only_so_many_tokens_are_remembered(clock: Clock) -> None:
    async with authority(clock, settings(tokens=TokenSettings(remembered=3, algorithm="Ed25519"))) as house:
        secret = await house.register()
        tokens = [await house.token("lamp-1", secret) for _ in range(5)]
        for token in tokens:
            await house.authority.identify(token)
        assert [house.authority.recall(token) is not None for token in tokens] == [False, False, True, True, True]
