"""Splits a stream of bytes into messages.

An SSAP message ends with `</SSAP_message>`, a JSSAP message with its line. The first character that a client sends
tells which of the two it speaks.
"""

from collections.abc import Iterator

from tidings.gates.smart_m3.statuses import MessageSyntaxError, MessageTooLarge

END_OF_SSAP = b"</SSAP_message>"
_WHITE = b" \t\r\n"


class Framing:
    """Cuts one stream into messages, each of at most so many bytes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = bytearray()
        self._looked = 0
        """Bytes in which there is no end; the last few of an end are looked at again."""
        self.is_json: bool | None = None
        """None until something was said."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The messages that have ended. Raises MessageSyntaxError, MessageTooLarge: nothing can be read after that."""
        held = self._held
        held += data
        if self.is_json is None and not self._begin():
            return
        end = b"\n" if self.is_json else END_OF_SSAP
        while (found := held.find(end, max(0, self._looked - len(end) + 1))) >= 0:
            after = found + len(end)
            if after > self._most:
                raise MessageTooLarge(self._most)
            message = bytes(held[:after]).strip(_WHITE)
            del held[:after]
            self._looked = 0
            if message:
                yield message
        self._looked = len(held)
        if self._looked > self._most:
            raise MessageTooLarge(self._most)

    def _begin(self) -> bool:
        """Whether it is known what the client speaks."""
        said = bytes(self._held[: self._most]).lstrip(_WHITE + b"\xef\xbb\xbf")
        if not said:
            self._held.clear()
            return False
        if said[:1] not in {b"<", b"{"}:
            raise MessageSyntaxError("a message is an <SSAP_message> or, in JSSAP, a JSON object on one line")
        self.is_json = said[:1] == b"{"
        return True
