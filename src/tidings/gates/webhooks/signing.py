"""The headers of Standard Webhooks 1.0: by them a receiver can verify that a request is from us, recent and unchanged.

    webhook-signature: v1,base64(HMAC-SHA256(secret, "<webhook-id>.<webhook-timestamp>.<body>"))

The secret of a hook is derived from its name and one key of the broker, so neither the log nor any list has secrets.
"""

import hmac
from base64 import b64encode
from hashlib import sha256

PREFIX = "whsec_"
KEY_BYTES = 32


class Signing:
    """`key` is the broker's own, of 32 bytes."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def secret(self, hook: str) -> str:
        """For the receiver of a hook, as their libraries take it."""
        return PREFIX + b64encode(self._secret(hook)).decode()

    def headers(self, hook: str, message: str, seconds: int, body: bytes) -> dict[str, str]:
        """Of one attempt; `seconds` is the time since 1970."""
        signed = b"%b.%d.%b" % (message.encode(), seconds, body)
        signature = b64encode(hmac.digest(self._secret(hook), signed, sha256)).decode()
        return {"webhook-id": message, "webhook-timestamp": str(seconds), "webhook-signature": f"v1,{signature}"}

    def _secret(self, hook: str) -> bytes:
        return hmac.digest(self._key, b"tidings web hook " + hook.encode(), sha256)
