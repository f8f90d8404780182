"""Whether the broker of this container is well: exit code 0 if /healthz says so, 1 with the reason if not.

It asks at the port that answers whatever the event loop does, if there is one. It goes past any proxy of the
environment, and needs nothing but Python: the image has no curl.
"""

import http.client
import os
import sys


def main() -> int:
    port = int(os.environ.get("TIDINGS_HEALTH_PORT") or os.environ.get("TIDINGS_HTTP_PORT") or "8000")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=4)
    try:
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        said = answer.read().decode(errors="replace").strip()
    except (OSError, http.client.HTTPException) as error:
        print(f"nobody answers at port {port}: {error}")
        return 1
    print(said)
    return 0 if answer.status == http.HTTPStatus.OK else 1


if __name__ == "__main__":
    sys.exit(main())
