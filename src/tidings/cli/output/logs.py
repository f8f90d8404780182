"""What the broker writes to stderr about itself: a line for people, or one JSON object a line for programs."""

import logging
import sys
from datetime import UTC, datetime
from typing import Any

import orjson


class JsonLines(logging.Formatter):
    """One JSON object a record."""

    def format(self, record: logging.LogRecord) -> str:
        content: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            content["traceback"] = self.formatException(record.exc_info)
        return orjson.dumps(content).decode()


def configure(level: str, format_: str) -> None:
    """Write everything from a level on."""
    handler = logging.StreamHandler(sys.stderr)
    text = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(JsonLines() if format_ == "json" else text)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
