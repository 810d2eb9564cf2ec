"""One line for each request and each problem in the service, as text or as JSON."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from factloop.entrance.serving import LogFormat, LogLevel
from factloop.reports.visible import VisibleLines


class Lines(VisibleLines):
    """Formats the UTC time, level and message and, for requests, the method, path, status and key."""

    def __init__(self, format: LogFormat) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._format = format

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: ARG002, N802 - logging's name
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        if self._format == "text":
            return text
        line = {"time": self.formatTime(record), "level": record.levelname.lower(), "logger": record.name}
        line |= {"message": record.getMessage(), **getattr(record, "request", {})}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


def log_to_stderr(format: LogFormat, level: LogLevel) -> None:
    """Logs factloop's messages from this level upwards, and warnings from its libraries."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines(format))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    logging.getLogger("factloop").setLevel(level.upper())
