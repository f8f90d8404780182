"""The knowledge processors that have joined, with security on.

A knowledge processor joins over one connection, and sends each of its other requests over another one, with the same
node id. The id stands for the credentials of the JOIN only from the same address, and only if it is so long that it
must be random, as the usual libraries make it.
"""

from collections import OrderedDict

MOST = 10_000
SHORTEST = 36
"""The length of a node id that cannot be guessed: that of a UUID."""


class Memberships:
    """What was shown at JOIN, by node and address; the longest unused go first."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._shown: OrderedDict[tuple[str, str], str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._shown)

    def join(self, node: str, where: str, credentials: str) -> None:
        if len(node) < SHORTEST:
            return
        self._shown[node, where] = credentials
        self._shown.move_to_end((node, where))
        while len(self._shown) > self._most:
            self._shown.popitem(last=False)

    def leave(self, node: str, where: str) -> None:
        self._shown.pop((node, where), None)

    def shown_by(self, node: str, where: str) -> str | None:
        shown = self._shown.get((node, where))
        if shown is not None:
            self._shown.move_to_end((node, where))
        return shown
