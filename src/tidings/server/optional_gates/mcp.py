"""Builds the gate for software agents. It needs the SDK of the Model Context Protocol, which is in an extra."""

from tidings.extras import needing
from tidings.gates.gate import Gate
from tidings.gates.premises import Premises
from tidings.server.config import Settings


def model_context_protocol(premises: Premises, settings: Settings) -> Gate | None:
    """Raises ExtraMissing."""
    if not settings.mcp:
        return None
    with needing("--mcp needs the SDK of the Model Context Protocol", "gates"):
        from tidings.gates.mcp.gate import McpGate

    return McpGate(premises, read_only=settings.mcp_read_only)
