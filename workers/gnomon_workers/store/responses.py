"""Keeps replies of models for a time, so that no call is paid twice."""

import logging
from collections.abc import Collection, Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from gnomon_workers.store.database import Database, in_words, is_passing
from gnomon_workers.store.schema import replies

QUERY_SCOPES = 1_000
FORGET_BATCH = 10_000
_OF_SCOPES = select(replies.c.scope, replies.c.key, replies.c.body).where(
    replies.c.scope.in_(bindparam("scopes", expanding=True))
)
log = logging.getLogger(__name__)


class CachedResponse(NamedTuple):
    """A reply as JSON, under the digest of all that it answered; `scope` is the part known before a trial."""

    key: bytes
    scope: bytes
    body: str


class Responses(Database):
    """The part of the store that is the response cache."""

    def responses(self, scopes: Collection[bytes]) -> dict[bytes, dict[bytes, str]]:
        """What is kept of these scopes: bodies by key, by scope; every scope that was asked for is there."""
        bodies: dict[bytes, dict[bytes, str]] = {scope: {} for scope in scopes}
        wanted = list(bodies)
        with self.reading() as db:
            for start in range(0, len(wanted), QUERY_SCOPES):
                here = {"scopes": wanted[start : start + QUERY_SCOPES]}
                for scope, key, body in db.execute(_OF_SCOPES, here):
                    bodies[scope][key] = body
        return bodies

    def insert_responses(self, new: Sequence[CachedResponse]) -> None:
        """Keep replies; of two under one key the first stays. One that cannot be stored takes no other along.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: the database cannot be reached; try again.
        """
        if not new:
            return
        try:
            self._insert(new)
        except Exception as error:
            if is_passing(error):
                raise
            if len(new) == 1:
                log.warning("a reply cannot be kept: %s", in_words(error))
                return
            for response in new:
                self.insert_responses([response])

    def _insert(self, new: Sequence[CachedResponse]) -> None:
        with self.writing() as db:
            now = self.now(db)
            rows = [{"key": key, "scope": scope, "body": body, "created_at": now} for key, scope, body in new]
            dialect = sqlite if self._is_sqlite else postgresql
            db.execute(dialect.insert(replies).on_conflict_do_nothing(), rows)

    def expire_responses(self, *, older_than_s: float) -> int:
        """Delete what was kept longer ago; return how many. Other writers wait for a batch at most."""
        gone = 0
        while True:
            with self.writing() as db:
                old = select(replies.c.key).where(replies.c.created_at < self.now(db) - older_than_s)
                batch = replies.c.key.in_(old.order_by(replies.c.created_at).limit(FORGET_BATCH))
                count = db.execute(delete(replies).where(batch)).rowcount
            gone += count
            if count < FORGET_BATCH:
                return gone
