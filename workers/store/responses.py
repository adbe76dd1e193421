"""Keeps replies of models for a time, so that no call is paid twice."""

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite

from workers.store.database import Database, in_words, insert_directly, is_passing
from workers.store.schema import replies

QUERY_SCOPES = 1_000
FORGET_BATCH = 10_000
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
        bodies: dict[bytes, dict[bytes, str]] = defaultdict(dict, {scope: {} for scope in scopes})
        wanted = list(bodies)
        with self.reading() as db:
            for start in range(0, len(wanted), QUERY_SCOPES):
                here = replies.c.scope.in_(wanted[start : start + QUERY_SCOPES])
                for row in db.execute(select(replies.c.scope, replies.c.key, replies.c.body).where(here)):
                    bodies[row.scope][row.key] = row.body
        return dict(bodies)

    def insert_responses(self, new: Iterable[CachedResponse]) -> None:
        """Keep replies; of two under one key the first stays. One that cannot be stored takes no other along.

        Raises:
            sqlalchemy.exc.SQLAlchemyError: the database cannot be reached; try again.
        """
        values = [response._asdict() for response in new]
        if not values:
            return
        try:
            self._insert(values)
        except Exception as error:
            if is_passing(error):
                raise
            if len(values) == 1:
                log.warning("a reply cannot be kept: %s", in_words(error))
                return
            for row in values:
                self.insert_responses([CachedResponse(**row)])

    def _insert(self, values: Sequence[Mapping[str, Any]]) -> None:
        with self.writing() as db:
            now = self.now(db)
            rows = [{**row, "created_at": now} for row in values]
            if self._is_sqlite:
                insert_directly(db, sqlite.insert(replies).on_conflict_do_nothing(), rows)
            else:
                db.execute(postgresql.insert(replies).on_conflict_do_nothing(), rows)

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
