"""Seals the results of jobs that have ended, and has each line of a seal signed by a time authority.

A time authority (RFC 3161) signs a hash together with the time at which it saw it; it learns nothing else.
"""

import base64
import logging
import threading
import time
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from gnomon.core.seal import SealLine
from gnomon.time_stamps import Unsigned, signed_time
from gnomon_workers.store.database import in_words
from gnomon_workers.store.store import Store

TIMEOUT_S = 10.0
PAUSE_S = 60.0  # after an authority did not answer
MAX_REPLY_BYTES = 100_000
log = logging.getLogger(__name__)


class Sealer:
    """Works beside the sweeper: digests of large jobs take seconds, and an authority may not answer."""

    def __init__(self, store: Store, *, every_s: float, timestamp_url: str | None = None) -> None:
        self._store, self._every_s, self._url = store, every_s, timestamp_url
        self._rests_until_s = 0.0

    def run(self, stop: threading.Event) -> None:
        """Seal until `stop` is set; a database that is away is tried again at the next turn."""
        while not stop.wait(self._every_s):
            try:
                self.turn()
            except SQLAlchemyError as error:
                log.warning("sealing put off: %s", in_words(error))

    def turn(self) -> None:
        """Seal what has ended, then have signed what is not signed yet."""
        for job_id in self._store.jobs_to_seal():
            self._store.seal_results(job_id)
        if self._url is None or time.monotonic() < self._rests_until_s:
            return
        try:
            for job_id, line in self._store.unstamped():
                self._store.add_time_stamp(job_id, line, time_stamp(line, self._url))
        except Unsigned as error:
            log.warning("no time stamp: %s", error)
            self._rests_until_s = time.monotonic() + PAUSE_S


def time_stamp(line: SealLine, url: str) -> dict[str, Any]:
    """What the line of a time authority says: its address, its time, and its signed reply in base64.

    Raises:
        Unsigned: the authority is away, refuses, or has signed something else.
    """
    import httpx  # late, as the next: few services have an authority
    from rfc3161_client import HashAlgorithm, TimestampRequestBuilder

    request = TimestampRequestBuilder(data=line.text.encode(), hash_algorithm=HashAlgorithm.SHA256).build()
    headers = {"Content-Type": "application/timestamp-query", "Accept-Encoding": "identity"}
    until_s, body = time.monotonic() + TIMEOUT_S, b""
    try:
        address = httpx.URL(url)
        public = str(address.copy_with(userinfo=b""))  # a seal is given away
        with httpx.stream(
            "POST", address, content=request.as_bytes(), headers=headers, timeout=TIMEOUT_S
        ) as reply:
            for chunk in reply.iter_raw():
                body += chunk
                if len(body) > MAX_REPLY_BYTES or time.monotonic() > until_s:
                    raise Unsigned(f"{public} answers too much, or too slowly")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Unsigned(f"the authority: {type(error).__name__}") from None
    if reply.status_code != httpx.codes.OK:
        raise Unsigned(f"{public} answers {reply.status_code}, {len(body):,} bytes")
    signed_at = signed_time(body, line, nonce=request.nonce)
    return {"authority": public, "at": signed_at, "reply": base64.b64encode(body).decode()}
