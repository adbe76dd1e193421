"""Keeps notices about jobs, each once, until every address has taken them."""

import json
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from sqlalchemy import insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from gnomon_workers.store.database import Database
from gnomon_workers.store.records import OPEN
from gnomon_workers.store.schema import jobs, notices

HELD_S = 600.0  # by who sends it, longer than a turn with slow addresses takes: then others may try
NOBODY = ""  # the target of what is noted as told, and sent to nobody


class End(NamedTuple):
    """A job that has ended, and has not been told of."""

    job_id: str
    finished_at: float
    is_budget_exhausted: bool


class Notice(NamedTuple):
    """What is to be sent to a target; `attempts` were made before."""

    number: int
    job_id: str
    event: str
    target: str
    body: Mapping[str, Any]
    created_at: float
    attempts: int


class Notices(Database):
    """The part of the store that keeps notices."""

    def untold_ends(self, *, limit: int) -> list[End]:
        """Jobs that have ended since that was last told, oldest first."""
        is_new = or_(jobs.c.told_at.is_(None), jobs.c.told_at != jobs.c.finished_at)
        query = select(jobs.c.id, jobs.c.finished_at, jobs.c.is_budget_exhausted)
        ended = query.where(jobs.c.status.not_in(OPEN), jobs.c.finished_at.is_not(None), is_new)
        with self.reading() as db:
            found = db.execute(ended.order_by(jobs.c.finished_at).limit(limit)).all()
        return [End(row[0], row[1], bool(row[2])) for row in found]

    def note_told(self, end: End) -> None:
        """The end of a job is told: it is not found again."""
        with self.writing() as db:
            this = update(jobs).where(jobs.c.id == end.job_id, jobs.c.finished_at == end.finished_at)
            db.execute(this.values(told_at=end.finished_at))

    def add_notices(
        self, job_id: str, event: str, key: str, body: Mapping[str, Any], targets: Collection[str]
    ) -> bool:
        """Keep a notice for each target; whether it is new: of several processes one is told so."""
        this = {"job_id": job_id, "event": event, "key": key}
        try:
            with self.writing() as db:
                now = self.now(db)
                for target in (NOBODY, *targets):
                    due = {"next_at": now if target else None, "created_at": now, "attempts": 0, "said": ""}
                    kept = json.dumps(body) if target else ""
                    db.execute(insert(notices).values(**this, **due, target=target, body=kept))
        except IntegrityError:
            return False
        return True

    def take_notices(self, targets: Collection[str], *, limit: int) -> list[Notice]:
        """Notices that are due for these targets, oldest first; for HELD_S nobody else gets them."""
        with self.writing() as db:
            now = self.now(db)
            due = select(notices).where(notices.c.next_at <= now, notices.c.target.in_(targets))
            locked = due.order_by(notices.c.number).limit(limit).with_for_update(skip_locked=True)
            rows = db.execute(locked).mappings().all()
            held = update(notices).where(notices.c.number.in_([row["number"] for row in rows]))
            db.execute(held.values(next_at=now + HELD_S))
        return [
            Notice(
                **{name: row[name] for name in Notice._fields if name != "body"}, body=json.loads(row["body"])
            )
            for row in rows
        ]

    def put_off(self, notice: Notice, *, again_s: float) -> None:
        """Let it be tried later: nothing was attempted."""
        with self.writing() as db:
            this = update(notices).where(notices.c.number == notice.number)
            db.execute(this.values(next_at=self.now(db) + again_s))

    def note_sent(self, notice: Notice, *, said: str, again_s: float | None) -> None:
        """What came of an attempt; `again_s` is after how long to try again, None: not at all."""
        with self.writing() as db:
            next_at = None if again_s is None else self.now(db) + again_s
            this = update(notices).where(notices.c.number == notice.number)
            db.execute(this.values(next_at=next_at, said=said, attempts=notice.attempts + 1))
