"""Reads the settings of a worker process from the environment."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from gnomon.core.errors import SpecError

PREFIX = "GNOMON_"
CACHE_DAYS = "GNOMON_CACHE_DAYS"
DAY_S = 86_400.0
TIMESTAMP_URL = "GNOMON_TIMESTAMP_URL"
MAX_LEASE_S = 600.0  # seconds; a lease of over twice that is from before the clock was set back
LONGEST_S = {"lease_s": MAX_LEASE_S}
DEFAULT_CACHE_DAYS, MAX_CACHE_DAYS = 30.0, 36_500.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The clocks of the machinery, in seconds; each can be set, e.g. as GNOMON_LEASE_SECONDS."""

    lease_s: float = 20.0  # a worker that is silent for longer has lost its trials
    watch_s: float = 1.0  # how often a worker looks whether its job was cancelled
    flush_s: float = 0.5  # results wait at most this long before they are written
    cancel_s: float = 2.0  # calls in flight of a job that was cancelled may end within this time
    grace_s: float = 10.0  # a worker that is to stop lets running trials go on for this long
    sweep_s: float = 2.0  # how often the sweeper looks for the dead
    start_s: float = 60.0  # how long a worker or sweeper that starts waits for PostgreSQL
    setup_s: float = 30.0  # how long a job that one worker cannot set up waits for another

    @property
    def renew_s(self) -> float:
        """How often a lease is renewed: three may fail before it is lost."""
        return self.lease_s / 4


def read_timing(environ: Mapping[str, str]) -> Timing:
    """Read GNOMON_LEASE_SECONDS, GNOMON_WATCH_SECONDS and so on.

    >>> read_timing({"GNOMON_LEASE_SECONDS": "1.5"}).lease_s
    1.5

    Raises:
        SpecError: one is not a number of seconds above 0, or longer than a day, a lease than MAX_LEASE_S.
    """
    chosen: dict[str, float] = {}
    for field in fields(Timing):
        name = PREFIX + field.name.removesuffix("_s").upper() + "_SECONDS"
        text = environ.get(name)
        if text is not None:
            chosen[field.name] = _seconds(name, text, at_most_s=LONGEST_S.get(field.name, DAY_S))
    return Timing(**chosen)


def read_cache_days(environ: Mapping[str, str]) -> float:
    """Read GNOMON_CACHE_DAYS: for how long replies are kept and used again; 0 keeps none.

    >>> read_cache_days({}), read_cache_days({"GNOMON_CACHE_DAYS": "0"})
    (30.0, 0.0)

    Raises:
        SpecError: it is not a number of days, 0 or more.
    """
    text = environ.get(CACHE_DAYS, "") or str(DEFAULT_CACHE_DAYS)
    try:
        days = float(text)
    except ValueError:
        days = -1.0
    if not 0.0 <= days <= MAX_CACHE_DAYS:
        raise SpecError(f"{text!r} is not a number of days between 0 and 36,500", field=CACHE_DAYS)
    return days


def read_timestamp_url(environ: Mapping[str, str]) -> str | None:
    """Read GNOMON_TIMESTAMP_URL: the time authority (RFC 3161) that signs seals; None: no authority does.

    >>> read_timestamp_url({}) is None
    True

    Raises:
        SpecError: it is no `http://` or `https://` address.
    """
    url = environ.get(TIMESTAMP_URL, "")
    if url and not url.startswith(("http://", "https://")):
        raise SpecError("not an address; allowed: http://… or https://…", field=TIMESTAMP_URL)
    return url or None


def _seconds(name: str, text: str, *, at_most_s: float) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.0 < seconds <= at_most_s:
        allowed = f"above 0, at most {at_most_s:,.0f}"
        raise SpecError(f"{text!r} is not a number of seconds {allowed}", field=name)
    return seconds
