"""Keys: rotated without a token being lost, kept where nobody else can read them, and never written to the log."""

import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest
from joserfc.jwk import RSAKey

from broker.making import Clock
from security.making import House, authority, settings
from tidings.security.errors import InvalidGrant, KeysUnusable
from tidings.security.keys.key_vault import FolderVault
from tidings.security.keys.signing_key import SigningKey, read_public
from tidings.security.settings import TokenSettings
from tidings.security.tokens.compact import read_token
from waiting import asynchronous

RSA = SigningKey.generate("RS256")


def kids(house: House) -> list[str]:
    return [key["kid"] for key in house.authority.server.jwks().content["keys"]]


@pytest.mark.parametrize("algorithm", ["RS256", "ES256", "Ed25519"])
@asynchronous
async def test_each_algorithm_signs_and_verifies(algorithm: Any) -> None:
    async with authority(Clock(), settings(tokens=TokenSettings(algorithm=algorithm))) as house:
        assert (await house.authority.identify(await house.newcomer())).client == "lamp-1"
        (published,) = house.authority.server.jwks().content["keys"]
        assert (published["alg"], published["use"]) == (algorithm, "sig")
        assert published["kid"] == read_public(published | {"kid": ""}).kid  # type: ignore[union-attr]  # RFC 7638


def test_no_name_of_a_key_looks_like_an_option_of_a_command() -> None:
    assert not any(SigningKey.generate("Ed25519").kid.startswith("-") for _ in range(500))


@asynchronous
async def test_a_new_key_signs_and_the_old_one_verifies_until_its_tokens_have_expired(clock: Clock) -> None:
    async with authority(clock) as house:
        secret = await house.register()
        old, (first,) = await house.token("lamp-1", secret), kids(house)
        clock.pass_by(100)
        last = await house.token("lamp-1", secret)
        second = await house.authority.rotate()
        assert kids(house) == [first, second]
        new = await house.token("lamp-1", secret)
        for token in (old, last, new):
            assert await house.authority.identify(token)
        clock.pass_by(3_629)
        assert (await house.authority.identify(last)).client == "lamp-1"
        clock.pass_by(2)
        await house.authority.tidy()
        assert kids(house) == [second]
        assert house.vault.find(first) is None
        house.authority.verification.forget()
        with pytest.raises(InvalidGrant):
            await house.authority.identify(old)


@asynchronous
async def test_a_key_that_has_long_been_replaced_signs_nothing_new_whoever_has_it(clock: Clock) -> None:
    async with authority(clock) as house:
        secret = await house.register()
        stolen = house.authority.keys.signing
        assert stolen is not None
        await house.authority.rotate()
        clock.pass_by(3_631)
        claims = read_token(await house.token("lamp-1", secret)).claims
        forged = stolen.sign(msgspec.json.encode(claims), "at+jwt")
        assert stolen.kid not in kids(house)
        with pytest.raises(InvalidGrant):
            await house.authority.identify(forged)


@asynchronous
async def test_keys_are_rotated_when_it_is_time(clock: Clock) -> None:
    async with authority(clock, settings(tokens=TokenSettings(rotate=10_000, algorithm="Ed25519"))) as house:
        (first,) = kids(house)
        clock.pass_by(9_999)
        await house.authority.tidy()
        assert kids(house) == [first]
        clock.pass_by(2)
        await house.authority.tidy()
        assert len(kids(house)) == 2


@asynchronous
async def test_nothing_counts_that_a_key_has_signed_which_was_found_out(clock: Clock) -> None:
    async with authority(clock) as house:
        token, (first,) = await house.newcomer(), kids(house)
        await house.authority.identify(token)
        await house.authority.drop(first)
        with pytest.raises(InvalidGrant):
            await house.authority.identify(token)
        (second,) = kids(house)
        assert second != first


@asynchronous
async def test_the_ledger_brings_everything_back_and_has_no_private_key(clock: Clock, tmp_path: Path) -> None:
    vault = FolderVault(tmp_path)
    async with authority(clock, vault=vault) as house:
        await house.authority.rotate()
        secret = await house.register()
        token = await house.token("lamp-1", secret)
        revoked = await house.token("lamp-1", secret)
        passport = await house.authority.identify(revoked)
        await house.pages.write(house.authority.revocations.revocation(passport.token, passport.expires))
        snapshot = [note for _, keeper in house.authority.keepers() for note in keeper.notes()]
        for note in house.pages.written + snapshot:
            if note.kind == "key_added":
                assert note.content["public"].keys() <= {"kty", "crv", "x", "kid", "alg", "use"}
    for notes in (house.pages.written, snapshot, house.pages.written + house.pages.written[-2:]):
        async with authority(clock, vault=vault) as second:
            second.pages.replay(notes)
            assert (await second.authority.identify(token)).client == "lamp-1"
            with pytest.raises(InvalidGrant):
                await second.authority.identify(revoked)
            await second.token("lamp-1", secret)


def test_private_keys_are_files_that_only_their_owner_can_read(tmp_path: Path) -> None:
    vault = FolderVault(tmp_path)
    vault.store(RSA)
    (path,) = (tmp_path / "keys").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    found = FolderVault(tmp_path).find(RSA.kid)
    assert found is not None
    assert (found.kid, found.public()) == (RSA.kid, RSA.public())
    path.chmod(0o640)
    with pytest.raises(KeysUnusable, match="0600"):
        vault.find(RSA.kid)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"kty":"oct","k":"AAAA","alg":"HS256"}', b"[1]", b"{"])
def test_files_that_are_no_keys_are_named(tmp_path: Path, content: bytes) -> None:
    vault = FolderVault(tmp_path)
    vault.store(RSA)
    (path,) = (tmp_path / "keys").iterdir()
    path.write_bytes(content)
    with pytest.raises(KeysUnusable, match=RSA.kid):
        vault.find(RSA.kid)


@pytest.mark.parametrize("kid", ["../keys", "", "a/b", "x" * 200, "a\0b"])
def test_no_name_of_a_key_leads_out_of_the_folder(tmp_path: Path, kid: str) -> None:
    with pytest.raises(KeysUnusable):
        FolderVault(tmp_path).find(kid)


def test_a_vault_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("a file is in the way")
    with pytest.raises(KeysUnusable, match="cannot be written"):
        FolderVault(tmp_path).store(RSA)


@pytest.mark.parametrize(
    "jwk",
    [
        {"kty": "oct", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"},
        {"kty": "RSA", "n": "AQAB", "e": "AQAB"},
        {"kty": "RSA"},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kty": "OKP", "crv": "X25519", "x": "hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo"},
        RSA.public() | {"use": "enc"},
        RSA.public() | {"alg": "HS256"},
        RSA.public() | {"alg": "none"},
        "text",
    ],
    ids=["shared", "short", "empty", "no point", "for exchange", "to encrypt", "as shared", "none", "text"],
)
def test_keys_of_others_that_are_not_to_verify_with(jwk: Any) -> None:
    assert read_public(jwk) is None


def test_a_private_key_that_somebody_has_published_is_only_used_to_verify() -> None:
    key = read_public(RSA.private())
    assert key is not None
    assert isinstance(key.key, RSAKey)
    assert not key.key.is_private
    assert RSA.kid not in repr(key.key)
    assert repr(RSA) == f"SigningKey({RSA.kid!r})"
