"""Reads the GNOMON_* environment, once at start."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gnomon.core.errors import SpecError
from gnomon.spec.endpoints import ALLOWED_API_BASES_ENV, EndpointAllowlist, parse_allowed
from gnomon.spec.tool_servers import ALLOWED_COMMANDS_ENV, Commands, parse_commands
from gnomon_service.api_keys import KeyRing, parse_key, read_key_file
from gnomon_service.webhooks import Webhooks, read_webhooks
from gnomon_workers.object_storage import read_media_url
from gnomon_workers.rate_limit.config import RATE_LIMITS_ENV as RATES
from gnomon_workers.rate_limit.config import parse_rates
from gnomon_workers.settings import read_cache_days, read_timestamp_url

MAX_PER_MINUTE = 6_000
KEEP_DAYS = "GNOMON_KEEP_DAYS"
UPLOAD_GB = 20
DEFAULT_DATA_DIR = "./.gnomon"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The operator's settings. `media_roots` is None if unset; `max_per_minute` is per key."""

    data_dir: Path
    database_url: str
    redis_url: str | None = None
    api_keys: KeyRing = field(default_factory=KeyRing)
    media_roots: tuple[Path, ...] | None = None
    allowed_bases: EndpointAllowlist = field(default_factory=EndpointAllowlist)
    allowed_commands: Commands = ()  # that a request may have started
    max_per_minute: int = MAX_PER_MINUTE
    webhooks: Webhooks = field(default_factory=Webhooks)
    keep_days: float | None = None  # after which a service deletes jobs that have ended; None: never
    upload_gb: int = UPLOAD_GB  # that all uploads may take

    @property
    def is_embedded(self) -> bool:
        """Whether the queue and the store are this data folder's own."""
        return self.redis_url is None and self.database_url == own_database(self.data_dir)

    @property
    def has_store(self) -> bool:
        """Whether there may be a store; the data folder's own is looked for, and none is made."""
        is_own = self.database_url == own_database(self.data_dir)
        return not is_own or (self.data_dir / "gnomon.db").is_file()


def own_database(data_dir: Path) -> str:
    """The URL of a data folder's own SQLite file.

    >>> own_database(Path("/srv/gnomon"))
    'sqlite:////srv/gnomon/gnomon.db'
    """
    return f"sqlite:///{data_dir / 'gnomon.db'}"


def read_settings(environ: Mapping[str, str], *, data_dir: Path | None = None) -> Settings:
    """Read the environment; `data_dir`, if set, overrides GNOMON_DATA_DIR.

    Raises:
        SpecError: a variable is invalid; the message names it and what is allowed.
    """
    folder = (data_dir or Path(environ.get("GNOMON_DATA_DIR") or DEFAULT_DATA_DIR)).absolute()
    keys = [parse_key(entry) for entry in environ.get("GNOMON_API_KEYS", "").split(",") if entry.strip()]
    key_file = environ.get("GNOMON_API_KEYS_FILE")
    if key_file:
        read_key_file(Path(key_file))
    roots = environ.get("GNOMON_MEDIA_ROOTS")
    parse_rates(environ.get(RATES, ""))  # for the workers; checked here so that the user sees the message
    read_cache_days(environ)
    read_timestamp_url(environ)
    read_media_url(environ)
    return Settings(
        data_dir=folder,
        database_url=environ.get("GNOMON_DATABASE_URL") or own_database(folder),
        redis_url=environ.get("GNOMON_REDIS_URL") or None,
        api_keys=KeyRing(keys, Path(key_file) if key_file else None),
        media_roots=tuple(Path(root).resolve() for root in roots.split(":") if root) if roots else None,
        max_per_minute=_whole(environ, "GNOMON_MAX_REQUESTS_PER_MINUTE", MAX_PER_MINUTE),
        webhooks=read_webhooks(environ),
        keep_days=_keep_days(environ),
        upload_gb=_whole(environ, "GNOMON_UPLOAD_GB", UPLOAD_GB),
        allowed_bases=parse_allowed(environ.get(ALLOWED_API_BASES_ENV, "")),
        allowed_commands=parse_commands(environ.get(ALLOWED_COMMANDS_ENV, "")),
    )


def _keep_days(environ: Mapping[str, str]) -> float | None:
    text = environ.get(KEEP_DAYS, "")
    if text and not re.fullmatch(r"[1-9]\d{0,5}", text):
        raise SpecError(f"{text!r} is not a whole number of days above 0", field=KEEP_DAYS)
    return float(text) if text else None


def _whole(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name) or str(default)
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise SpecError(f"{text!r} is not a whole number above 0", field=name)
    return int(text)
