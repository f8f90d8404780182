"""A receiver of web hooks, with nothing but the standard library: it verifies each message, and shows what changed.

tidings serve --webhook-hosts 127.0.0.1:8085 --webhook-networks 127.0.0.1
python examples/webhooks/receiver.py --query 'SELECT ?s ?o WHERE { ?s <http://example.org/state> ?o }'
"""

import argparse
import hmac
import json
import time
import urllib.request
from base64 import b64decode, b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

OLDEST = 300
"""The greatest age of a message in seconds; an older one may be a replay."""


def is_genuine(secret: str, headers: Any, body: bytes) -> bool:
    """Whether a message is recent and signed with the secret, as Standard Webhooks specify."""
    message, sent = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not sent.isdigit() or abs(time.time() - int(sent)) > OLDEST:
        return False
    key = b64decode(secret.removeprefix("whsec_"))
    expected = b64encode(hmac.digest(key, f"{message}.{sent}.".encode() + body, "sha256")).decode()
    signatures = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(f"v1,{expected}", signature) for signature in signatures)


class Receiver(BaseHTTPRequestHandler):
    """Messages come at least once, and in order. A repeated message is accepted, but not shown again."""

    secret = ""
    last = 0

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if not is_genuine(Receiver.secret, self.headers, body):
            self.send_response(401)
            self.end_headers()
            return
        content = json.loads(body)
        if content["number"] > Receiver.last:
            Receiver.last = content["number"]
            show(content["notification"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Log nothing, so that the output has only the changes."""


def show(notification: dict[str, Any]) -> None:
    for sign, member in (("-", "removedResults"), ("+", "addedResults")):
        for row in notification[member]["results"]["bindings"]:
            print(sign, " ".join(f"{name}={term['value']}" for name, term in row.items()), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--broker", default="http://127.0.0.1:8000", help="(%(default)s)")
    parser.add_argument("--port", type=int, default=8085, help="(%(default)s)")
    parser.add_argument("--query", required=True)
    arguments = parser.parse_args()
    with ThreadingHTTPServer(("127.0.0.1", arguments.port), Receiver) as server:
        wish = {"url": f"http://127.0.0.1:{server.server_address[1]}/", "sparql": arguments.query}
        request = urllib.request.Request(f"{arguments.broker}/webhooks", json.dumps(wish).encode(), method="POST")
        with urllib.request.urlopen(request) as answer:
            hook = json.load(answer)["webhook"]
        Receiver.secret = hook["secret"]
        print(f"the hook is {hook['id']}", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            gone = urllib.request.Request(f"{arguments.broker}/webhooks/{hook['id']}", method="DELETE")
            urllib.request.urlopen(gone).close()


if __name__ == "__main__":
    main()
