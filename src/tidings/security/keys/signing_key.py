"""Keys: the private ones that we sign with, and public ones, ours and other issuers', by which tokens are verified.

A key says which algorithms it may be used with; what a token says about its algorithm is believed only within that. So
no token is verified without a signature, or with a public key taken for a shared secret.
"""

from typing import Any, Literal, TypeAlias, assert_never, cast

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey, import_key
from joserfc.jws import JWSRegistry
from msgspec import Struct

from tidings.security.errors import InvalidGrant

Algorithm: TypeAlias = Literal["RS256", "ES256", "Ed25519"]
"""What we sign with. RS256 is what clients of the protocol know."""
Jwk: TypeAlias = dict[str, Any]

_KINDS = ("RSA", "EC", "OKP")
_RSA_BITS = 2048
_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_CURVES = {
    "P-256": ("ES256",),
    "P-384": ("ES384",),
    "P-521": ("ES512",),
    "Ed25519": ("Ed25519", "EdDSA"),
    "Ed448": ("Ed448", "EdDSA"),
}


class VerifyingKey(Struct, frozen=True):
    """A public key, and the algorithms that it may be used with."""

    kid: str
    algorithms: tuple[str, ...]
    key: Any
    """As joserfc has it."""

    def check(self, token: str, algorithm: str) -> None:
        """Raise InvalidGrant unless this key has signed the token, with this algorithm."""
        if algorithm not in self.algorithms:
            raise InvalidGrant(f"the token is signed with {algorithm}, and its key is not for that")
        try:
            jws.deserialize_compact(token, self.key, registry=_Only(algorithm))
        except (JoseError, ValueError) as error:
            raise InvalidGrant("the signature of the token is wrong") from error


class _Only(JWSRegistry):
    """One algorithm. The older name of EdDSA is accepted: issuers use it."""

    max_header_length = 4096

    def __init__(self, algorithm: str) -> None:
        super().__init__(algorithms=[algorithm], strict_check_header=False)
        self._algorithm = algorithm

    def get_alg(self, name: str) -> Any:
        if name != self._algorithm:
            raise ValueError("another algorithm")
        return self.algorithms[name]


class SigningKey(Struct, frozen=True):
    """A private key. It is never written anywhere but into its vault."""

    kid: str
    algorithm: Algorithm
    key: Any

    def __repr__(self) -> str:
        return f"SigningKey({self.kid!r})"

    @classmethod
    def generate(cls, algorithm: Algorithm) -> "SigningKey":
        """A new one, named after its thumbprint (RFC 7638), which no command takes for an option. For RSA, this takes
        its time."""
        while (key := _generated(algorithm)).thumbprint().startswith("-"):
            pass
        return cls(key.thumbprint(), algorithm, key)

    @classmethod
    def read(cls, jwk: Jwk) -> "SigningKey":
        """One from its private JWK. Raises ValueError."""
        try:
            if jwk["kty"] not in _KINDS:
                raise ValueError("not a key of a kind that we sign with")
            key, algorithm = import_key(jwk), jwk["alg"]
            if not key.is_private or algorithm not in algorithms_of(key):
                raise ValueError("not a private key with its algorithm")
            return cls(key.thumbprint(), cast(Algorithm, algorithm), key)
        except (JoseError, KeyError) as error:
            raise ValueError(f"not a key: {error}") from error

    def private(self) -> Jwk:
        return dict(self.key.as_dict(private=True, alg=self.algorithm, use="sig", kid=self.kid))

    def public(self) -> Jwk:
        return dict(self.key.as_dict(private=False, alg=self.algorithm, use="sig", kid=self.kid))

    def sign(self, payload: bytes, kind: str) -> str:
        """A compact token."""
        header = {"alg": self.algorithm, "kid": self.kid, "typ": kind}
        return jws.serialize_compact(header, payload, self.key, algorithms=[self.algorithm])


def _generated(algorithm: Algorithm) -> Key:
    match algorithm:
        case "RS256":
            return RSAKey.generate_key(_RSA_BITS)
        case "ES256":
            return ECKey.generate_key("P-256")
        case "Ed25519":
            return OKPKey.generate_key("Ed25519")
        case _:
            assert_never(algorithm)


def algorithms_of(key: Key) -> tuple[str, ...]:
    """What a key may be used with; nothing for a shared secret, or a key that is too short."""
    if isinstance(key, RSAKey):
        return _RSA if key.raw_value.key_size >= _RSA_BITS else ()
    return _CURVES.get(str(key.get("crv")), ()) if isinstance(key, ECKey | OKPKey) else ()


def read_public(jwk: Jwk) -> VerifyingKey | None:
    """A key of a JWKS document, without its private half, should it have one; None if it is not one to verify with."""
    if not isinstance(jwk, dict) or jwk.get("kty") not in _KINDS or jwk.get("use", "sig") != "sig":
        return None
    if jwk["kty"] == "RSA" and 6 * len(str(jwk.get("n", ""))) < _RSA_BITS:
        return None
    try:
        public = {name: value for name, value in jwk.items() if name not in {"d", "p", "q", "dp", "dq", "qi", "oth"}}
        key = import_key(public)
        algorithms = algorithms_of(key)
        kid = jwk.get("kid", "") or key.thumbprint()
    except (JoseError, ValueError, TypeError):
        return None
    named = jwk.get("alg")
    if named is not None:
        algorithms = tuple(each for each in algorithms if each == named)
    return VerifyingKey(str(kid), algorithms, key) if algorithms else None
