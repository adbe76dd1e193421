"""Writes moments as rows and answers tell them."""

from datetime import UTC, datetime


def moment_text(moment: datetime) -> str:
    """A moment in ISO 8601: UTC, to the millisecond; one without a zone is taken for UTC.

    >>> moment_text(datetime(2026, 1, 2, 3, 4))
    '2026-01-02T03:04:00.000Z'

    Raises:
        OverflowError: in UTC it is before the year 1 or after 9999.
    """
    in_utc = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    return in_utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")
