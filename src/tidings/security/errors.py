"""Errors of security; branches of the tree in `model/errors.py`. Codes and statuses are those that clients of the
SPARQL Event protocol act on: some get a new token after 401 `invalid_grant`, again and again, so this code is used only
for errors that a new token cures.

TidingsError
├── InvalidRequest         invalid_request          401   no token, one that cannot be read, or not one for us
│   └── MalformedRequest   invalid_request          400   a request to the authorisation server that makes no sense
├── UnsupportedGrantType   unsupported_grant_type   401   an Authorization header that is not Bearer
│   └── UnknownGrantType   unsupported_grant_type   400   a grant type that the authorisation server does not have
├── InvalidGrant           invalid_grant            401   a token that is expired, early, revoked, or badly signed
│   └── GrantTypeRefused   invalid_grant            400   registration for another grant type
├── UnauthorizedClient     unauthorized_client      400   unknown id, or wrong secret
│   └── NoCredentials      unauthorized_client      401   no Authorization header at the token endpoint
├── InvalidClient          invalid_client           401   the same as the two above, as RFC 6749 says it
├── NotAuthorizedIdentity  not_authorized_identity  401   an identity that may not register, or has done so
├── IssuerUnreachable      issuer_unreachable       503   the keys of an external issuer are not to be had
└── KeysUnusable           keys_unusable            500   the files of our own keys cannot be used
BadRequest
├── ContentTypeError       content_type_error       400
├── AcceptError            accept_error             400
├── InvalidScope           invalid_scope            400   a scope that the client does not have
└── BadPolicy              bad_policy               400   a policy, or settings of security, with a mistake; where
NotFound
├── UnknownClient          unknown_client           404
├── UnknownGrants          unknown_grants           404   no grants were set under this name
└── UnknownKey             unknown_key              404   no key of ours has this name
NotAllowed
├── ClientExists           client_exists            409   another client has this id
├── SetByFile              set_by_file              409   these grants are changed in the file
└── LastAdministrator      last_administrator       409   nobody could administer the broker any more
LimitExceeded
├── TooManyAttempts        too_many_attempts        429   seconds: come back after so many
├── TooManyClients         too_many_clients         429   no more can be registered
└── TooManyKeys            too_many_keys            429   so many keys count already
"""

from math import ceil
from typing import Any

from tidings.model.errors import BadRequest, LimitExceeded, NotAllowed, NotFound, TidingsError


class InvalidRequest(TidingsError):
    status = 401
    code = "invalid_request"


class MalformedRequest(InvalidRequest):
    status = 400


class UnsupportedGrantType(TidingsError):
    status = 401
    code = "unsupported_grant_type"


class UnknownGrantType(UnsupportedGrantType):
    status = 400


class InvalidGrant(TidingsError):
    status = 401
    code = "invalid_grant"


class GrantTypeRefused(InvalidGrant):
    status = 400


class UnauthorizedClient(TidingsError):
    status = 400
    code = "unauthorized_client"


class NoCredentials(UnauthorizedClient):
    status = 401


class InvalidClient(TidingsError):
    status = 401
    code = "invalid_client"


class NotAuthorizedIdentity(TidingsError):
    status = 401
    code = "not_authorized_identity"


class IssuerUnreachable(TidingsError):
    status = 503
    code = "issuer_unreachable"


class KeysUnusable(TidingsError):
    status = 500
    code = "keys_unusable"


class ContentTypeError(BadRequest):
    code = "content_type_error"


class AcceptError(BadRequest):
    code = "accept_error"


class InvalidScope(BadRequest):
    code = "invalid_scope"


class BadPolicy(BadRequest):
    code = "bad_policy"


class UnknownClient(NotFound):
    code = "unknown_client"


class UnknownGrants(NotFound):
    code = "unknown_grants"


class UnknownKey(NotFound):
    code = "unknown_key"


class ClientExists(NotAllowed):
    status = 409
    code = "client_exists"


class SetByFile(NotAllowed):
    status = 409
    code = "set_by_file"


class LastAdministrator(NotAllowed):
    status = 409
    code = "last_administrator"


class TooManyAttempts(LimitExceeded):
    status = 429
    code = "too_many_attempts"

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(f"too many {what}; try again in {ceil(seconds)} s")
        self.seconds = seconds

    def data(self) -> dict[str, Any]:
        return {"seconds": ceil(self.seconds)}


class TooManyClients(LimitExceeded):
    status = 429
    code = "too_many_clients"


class TooManyKeys(LimitExceeded):
    status = 429
    code = "too_many_keys"
