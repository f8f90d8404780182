"""The name that a publisher may give itself, for the log. The broker does not verify it, and it gives no rights."""

from tidings.model.errors import BadRequest

HEADER = "Tidings-Publisher"
"""The HTTP header with the name, as UTF-8."""
LONGEST = 200
"""Characters of a name."""


def publisher_name(name: str) -> str:
    """The name, if it is valid. Raises BadRequest."""
    if not name.strip() or len(name) > LONGEST or not name.isprintable():
        raise BadRequest(f"the name of a publisher has 1 to {LONGEST} characters, all of them printable")
    return name
