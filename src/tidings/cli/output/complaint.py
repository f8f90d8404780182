"""An error for people: one line, and for a text that cannot be read the place in it, with a caret."""

import sys
from collections.abc import Iterable

from tidings.cli.input.arguments import UsageError
from tidings.cli.output.paint import harmless
from tidings.model.errors import EndpointRefused, SyntaxFault, TidingsError
from tidings.server.config import BadSetting

_WIDTH = 100
_UNAUTHORIZED = 401
_REJECTED = frozenset({"invalid_client", "unauthorized_client", "not_authorized_identity"})
"""Somebody has said who they are."""
_CANNOT_CONNECT, _NOT_TRUSTED = "cannot_connect", "not_trusted"


def complain(error: TidingsError) -> int:
    """Say what went wrong; the exit code."""
    sys.stdout.flush()
    line = "; ".join(str(error).splitlines()) + _way_out(error)
    print(f"tidings: error: {harmless(line)}", file=sys.stderr)
    if _wants_login(error):
        print("  this broker asks who you are: tidings login, or see tidings login --help", file=sys.stderr)
    fault = error if isinstance(error, SyntaxFault) else error.__cause__
    if isinstance(fault, SyntaxFault) and (excerpt := fault.excerpt()):
        print(_cropped(excerpt), file=sys.stderr)
    return 2 if isinstance(error, UsageError | BadSetting) else 1


def _way_out(error: BaseException | None) -> str:
    """What to do if no broker could be reached, at the bottom of it."""
    if not isinstance(error, TidingsError):
        return ""
    if error.code not in {_CANNOT_CONNECT, _NOT_TRUSTED} or isinstance(error.__cause__, TidingsError):
        return _way_out(error.__cause__)
    from tidings.client.errors import NotTrusted  # here: it takes the whole client along, which is there by now

    if isinstance(error, NotTrusted):
        return "; --ca FILE names the authorities to trust" if error.is_foreign else ""
    return "; tidings serve starts a broker, and --http URL names another one"


def _wants_login(error: BaseException | None) -> bool:
    """Whether a broker did not let somebody in, at the bottom of it; if it was the endpoint, it was the broker."""
    if not isinstance(error, TidingsError) or isinstance(error, EndpointRefused):
        return False
    return (error.status == _UNAUTHORIZED and error.code not in _REJECTED) or _wants_login(error.__cause__)


def warn(warnings: Iterable[str], *, quiet: bool = False) -> None:
    """Print the warnings about a text that is valid but hardly meant."""
    if not quiet:
        for warning in warnings:
            print(f"tidings: warning: {harmless(warning)}", file=sys.stderr)


def _cropped(excerpt: str) -> str:
    """The text around the caret, without control characters: a line may have a million characters."""
    line, caret = excerpt.split("\n")
    column = min(len(caret) - 1, len(line))
    start = max(0, column - _WIDTH * 2 // 3) if len(line) > _WIDTH else 0
    before, after = harmless(line[start:column]), harmless(line[column : start + _WIDTH])
    lead = "…" if start else ""
    tail = "…" if len(line) > start + _WIDTH else ""
    return f"  {lead}{before}{after}{tail}\n  {' ' * len(lead + before)}^"
