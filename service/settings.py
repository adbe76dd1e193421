"""Settings: the GNOMON_* environment, read once at start."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gnomon.errors import SpecError
from workers.bases import VARIABLE, AllowedBases, parse_allowed

MAX_BODY_BYTES = 1_000_000
DEFAULT_DATA_DIR = "./.gnomon"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the operator decided. `api_keys` are SHA-256 digests; `media_roots` is None where unset."""

    data_dir: Path
    database_url: str
    redis_url: str | None = None
    api_keys: tuple[bytes, ...] = ()
    media_roots: tuple[Path, ...] | None = None
    allowed_bases: AllowedBases = field(default_factory=AllowedBases)
    max_body_bytes: int = MAX_BODY_BYTES

    @property
    def is_embedded(self) -> bool:
        """Whether the queue and the store are this data folder's own."""
        return self.redis_url is None and self.database_url == own_database(self.data_dir)


def own_database(data_dir: Path) -> str:
    """The URL of a data folder's own SQLite file.

    >>> own_database(Path("/srv/gnomon"))
    'sqlite:////srv/gnomon/gnomon.db'
    """
    return f"sqlite:///{data_dir / 'gnomon.db'}"


def read_settings(environ: Mapping[str, str], *, data_dir: Path | None = None) -> Settings:
    """Read the environment; `data_dir`, where given, goes before GNOMON_DATA_DIR.

    Raises:
        SpecError: a variable holds what it may not; the message names it and says what it may.
    """
    folder = (data_dir or Path(environ.get("GNOMON_DATA_DIR") or DEFAULT_DATA_DIR)).absolute()
    keys = [key.strip() for key in environ.get("GNOMON_API_KEYS", "").split(",") if key.strip()]
    for key in keys:
        if not re.fullmatch(r"[!-~]{16,}", key):
            raise SpecError("each key needs 16 or more printable characters", field="GNOMON_API_KEYS")
    roots = environ.get("GNOMON_MEDIA_ROOTS")
    return Settings(
        data_dir=folder,
        database_url=environ.get("GNOMON_DATABASE_URL") or own_database(folder),
        redis_url=environ.get("GNOMON_REDIS_URL") or None,
        api_keys=tuple(digest_of(key) for key in keys),
        media_roots=tuple(Path(root).resolve() for root in roots.split(":") if root) if roots else None,
        allowed_bases=parse_allowed(environ.get(VARIABLE, "")),
    )


def digest_of(key: str) -> bytes:
    """What is kept of an API key: its SHA-256."""
    return hashlib.sha256(key.encode()).digest()
