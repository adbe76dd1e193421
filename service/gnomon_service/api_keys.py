"""API keys and what each may do. Only SHA-256 digests are kept.

GNOMON_API_KEYS holds entries separated by commas, the file GNOMON_API_KEYS_FILE one per line; `#` begins a
comment, and a file that changes is read again. An entry is `[read|run] KEY-OR-DIGEST [until YYYY-MM-DD]` and
then, in any order, `name=`, `owner=`, `usd=` and `tokens=`, the last two for each month; a digest is
`sha256:` and 64 hex digits.
"""

import datetime as dt
import hashlib
import hmac
import logging
import re
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from gnomon.core.errors import SpecError
from gnomon_workers.poster import Poster

Scope = Literal["read", "run"]
SCOPES: tuple[Scope, ...] = get_args(Scope)  # each includes those before it
RELOAD_S = 1.0  # how often the file is checked for changes, and so how long a removed key still works
ALLOWED = (
    "[read|run] KEY-OR-DIGEST [until YYYY-MM-DD] [name=NAME] [owner=OWNER] [usd=N] [tokens=N]; "
    "a key has 16 or more printable characters"
)
NAME = re.compile(r"[\w.@-]{1,40}")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key's digest, its scope, and the last day on which it is valid (UTC); whose it is, and what the jobs
    that are posted with it may cost in a calendar month (UTC), None: any.
    """

    digest: bytes
    scope: Scope
    until: dt.date | None = None
    name: str = ""
    owner: str = ""
    usd: float | None = None
    tokens: int | None = None

    @property
    def poster(self) -> Poster:
        """Who posts a job with it. A key without a name is known by the beginning of its digest."""
        name = self.name or f"key-{self.digest.hex()[:8]}"
        return Poster(name=name, owner=self.owner, usd=self.usd, tokens=self.tokens)


class KeyRing:
    """The keys that are valid now; falsy only if no key was ever configured."""

    def __init__(self, keys: Iterable[Key] = (), file: Path | None = None) -> None:
        self._fixed, self._file = tuple(keys), file
        self._read: tuple[Key, ...] = ()
        self._stamp: tuple[int, int] | None = None
        self._checked_s = -RELOAD_S
        self._fault = ""  # of the file, as it was logged
        self._refresh()

    def __bool__(self) -> bool:
        return bool(self._fixed) or self._file is not None

    def find(self, key: str, *, today: dt.date | None = None) -> Key | None:
        """The entry of `key` that is valid today, of several the one with the widest scope."""
        digest, today = digest_of(key), today or dt.datetime.now(dt.UTC).date()
        # Every key is compared, so the time taken does not depend on which one matches.
        matches = [entry for entry in self.entries() if hmac.compare_digest(digest, entry.digest)]
        valid = [entry for entry in matches if entry.until is None or today <= entry.until]
        return max(valid, key=lambda entry: SCOPES.index(entry.scope), default=None)

    def entries(self) -> tuple[Key, ...]:
        """All entries, also of keys whose last day is over."""
        self._refresh()
        return self._fixed + self._read

    def _refresh(self) -> None:
        """Read the file again if it has changed. A broken or absent file has no valid keys."""
        if self._file is None or time.monotonic() - self._checked_s < RELOAD_S:
            return
        self._checked_s = time.monotonic()
        try:
            status = self._file.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                self._read = read_key_file(self._file)
                self._stamp, self._fault = stamp, ""
        except (OSError, SpecError) as error:
            self._read, self._stamp = (), None
            if self._fault != str(error):
                self._fault = str(error)
                log.warning("no key of the file is valid until it is mended: %s", error)


def read_key_file(file: Path) -> tuple[Key, ...]:
    """The keys of a file.

    Raises:
        SpecError: it cannot be read, or a line is not an entry; the message names the line, never the key.
    """
    field = "GNOMON_API_KEYS_FILE"
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{file} cannot be read: {type(error).__name__}", field=field) from None
    entries = [(number, line.partition("#")[0].strip()) for number, line in enumerate(lines, start=1)]
    return tuple(parse_key(entry, field=f"{field} line {number}") for number, entry in entries if entry)


def parse_key(entry: str, *, field: str = "GNOMON_API_KEYS") -> Key:
    """One entry; a key without a scope may do everything.

    >>> parse_key("0123456789abcdef").scope
    'run'

    Raises:
        SpecError: it is not an entry; the message does not repeat it.
    """
    words = entry.split()
    about: dict[str, Any] = {}
    while len(words) > 1 and (option := re.fullmatch(r"(name|owner|usd|tokens)=(.*)", words[-1])):
        about[option[1]] = _option(option[1], option[2], field)
        del words[-1]
    scope: Scope = SCOPES[-1]
    if len(words) > 1 and words[0] in SCOPES:
        scope = cast(Scope, words.pop(0))
    until = None
    if len(words) == 3 and words[1] == "until":
        until = _date(words[2], field)
        del words[1:]
    if len(words) != 1:
        raise SpecError(f"an entry has {len(entry.split())} words; allowed: {ALLOWED}", field=field)
    return Key(digest=_digest(words[0], field), scope=scope, until=until, **about)


def new_key() -> str:
    """A fresh key of 256 random bits."""
    return "gn_" + secrets.token_urlsafe(32)


def entry_of(key: str, scope: Scope, until: dt.date | None = None, **about: object) -> str:
    """The entry for `key`: its digest, not the key itself; `about` are name, owner, usd and tokens.

    >>> entry_of("0123456789abcdef", "read")[:20]
    'read sha256:9f9f5111'

    Raises:
        SpecError: one of them is not allowed, or the last day is past.
    """
    if until and until < dt.datetime.now(dt.UTC).date():
        raise SpecError(f"{until} is past", field="--until")
    told = [(name, value) for name, value in about.items() if value is not None]
    for name, value in told:
        _option(name, str(value), f"--{name}")
    parts = [scope, f"sha256:{digest_of(key).hex()}", *((f"until {until}",) if until else ())]
    return " ".join([*parts, *(f"{name}={value}" for name, value in told)])


def digest_of(key: str) -> bytes:
    """A key's SHA-256, which is all that is kept. Keys are random, so no salt is needed."""
    return hashlib.sha256(key.encode()).digest()


def _digest(word: str, field: str) -> bytes:
    if word.startswith("sha256:"):
        if not re.fullmatch(r"sha256:[0-9a-fA-F]{64}", word):
            raise SpecError("a digest is sha256: and 64 hex digits", field=field)
        return bytes.fromhex(word[7:])
    if not re.fullmatch(r"[!-~]{16,}", word):
        raise SpecError("each key needs 16 or more printable characters", field=field)
    return digest_of(word)


def _option(name: str, text: str, field: str) -> str | float | int:
    if name in ("name", "owner"):
        if not NAME.fullmatch(text):
            raise SpecError(f"{name}= takes 1 to 40 letters, digits and . _ @ -; got {text!r}", field=field)
        return text
    if not re.fullmatch(r"\d{1,12}(\.\d{1,2})?" if name == "usd" else r"\d{1,15}", text):
        kind = "dollars and cents, such as 50 or 12.50," if name == "usd" else "a whole number,"
        raise SpecError(f"{name}= takes {kind} for each month; got {text!r}", field=field)
    return float(text) if name == "usd" else int(text)


def _date(word: str, field: str) -> dt.date:
    try:
        return dt.date.fromisoformat(word)
    except ValueError:
        raise SpecError(f"{word!r} is not a date; allowed: YYYY-MM-DD", field=field) from None
