"""The address of the service that runs over a data folder: written by `up` and `api`, read by `open`."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from gnomon.whole_file import write_whole

FILE = "up.json"
ANSWER_S = 2.0
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 (an address to call, not to listen on)


@contextmanager
def remembered(data_dir: Path, url: str) -> Iterator[None]:
    """Keeps the URL of this process' service in the data folder, until it ends."""
    path, entry = data_dir / FILE, {"url": url, "pid": os.getpid()}
    with suppress(OSError):  # a service without the file is a service still
        write_whole(path, json.dumps(entry).encode())
    try:
        yield
    finally:
        if _entry(data_dir) == entry:  # not that of a service that has started since
            path.unlink(missing_ok=True)


def running_url(data_dir: Path) -> str | None:
    """The URL of the service that runs over the data folder; None where none answers."""
    entry = _entry(data_dir)
    url = entry.get("url")
    if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https"):
        return None
    url = callable_url(url)
    opener = build_opener(ProxyHandler({}))  # the service is on this machine or in its network
    try:
        with opener.open(Request(f"{url}/healthz"), timeout=ANSWER_S) as answer:  # noqa: S310 (http, see above)
            return url if answer.status == 200 else None
    except (URLError, OSError, ValueError):
        return None


def callable_url(url: str) -> str:
    """The URL at which a service that listens on every address is called from this machine.

    >>> callable_url("http://0.0.0.0:8000"), callable_url("http://127.0.0.1:8000")
    ('http://127.0.0.1:8000', 'http://127.0.0.1:8000')
    """
    parts = urlsplit(url)
    host = EVERYWHERE.get(parts.hostname or "")
    return f"{parts.scheme}://{host}:{parts.port}" if host else url


def _entry(data_dir: Path) -> dict[str, object]:
    try:
        entry = json.loads((data_dir / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return entry if isinstance(entry, dict) else {}
