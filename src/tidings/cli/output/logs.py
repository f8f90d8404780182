"""The log messages of the broker on stderr: a line for people, or a JSON object on each line for programs."""

import logging
import sys
from datetime import UTC, datetime
from typing import Any

import orjson


class JsonLines(logging.Formatter):
    """Formats each record as a JSON object."""

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
    """Write messages of at least this level to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    text = logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(JsonLines() if format_ == "json" else text)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
