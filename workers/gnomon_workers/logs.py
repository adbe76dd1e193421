"""Sets up logs: one line per event on stderr, as text or JSON, with every secret redacted."""

import datetime as dt
import json
import logging
import os
import sys
from collections.abc import Mapping
from typing import TextIO

from gnomon.core.errors import SpecError
from gnomon.core.redaction import Redactor, redactor_here

FORMAT, LEVEL = "GNOMON_LOG_FORMAT", "GNOMON_LOG_LEVEL"
LEVELS = ("debug", "info", "warning", "error")
JOBS = "gnomon.jobs"  # the life of jobs: who posted them, and how they ended
TELL_ADDRESSES = ("httpx", "httpcore")  # at `info`, whole ones, and those of webhooks are secrets
TEXT = "%(asctime)s %(levelname)s %(name)s %(message)s"


class _Struck(logging.Formatter):
    """Text without secrets."""

    def __init__(self, secrets: Redactor) -> None:
        super().__init__(TEXT)
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        return self._secrets.redact_text(super().format(record))


class _Json(logging.Formatter):
    """One JSON object a line: time (UTC), level, logger, process, message, and error where there is one."""

    def __init__(self, secrets: Redactor) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": self._secrets.redact_text(record.getMessage()),
        }
        if record.exc_info:
            line["error"] = self._secrets.redact_text(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


def set_up_logs(environ: Mapping[str, str], *, level: str = "info", stream: TextIO | None = None) -> None:
    """Let all loggers of this process write to `stream` (stderr), as the environment says; where it names no
    level, the life of jobs is told from `info` on.

    Raises:
        SpecError: GNOMON_LOG_FORMAT or GNOMON_LOG_LEVEL is invalid.
    """
    kind = environ.get(FORMAT) or "text"
    if kind not in ("text", "json"):
        raise SpecError(f"{kind!r} is no format; allowed: text, json", field=FORMAT)
    level = environ.get(LEVEL) or level
    if level not in LEVELS:
        raise SpecError(f"{level!r} is no level; allowed: {', '.join(LEVELS)}", field=LEVEL)
    secrets = redactor_here() if environ is os.environ else Redactor(environ=environ)
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Json(secrets) if kind == "json" else _Struck(secrets))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for name in TELL_ADDRESSES:
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLevelName(level.upper())))
    logging.getLogger(JOBS).setLevel(logging.NOTSET if environ.get(LEVEL) else logging.INFO)
