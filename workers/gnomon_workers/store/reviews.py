"""Keeps queues of samples that people review, and what each reviewer said of each sample."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from gnomon.core.errors import Conflict, NotFound
from gnomon.core.review import HumanAnswer, Review, ReviewQueue
from gnomon_workers.store.database import Database
from gnomon_workers.store.schema import review_queues, reviews
from gnomon_workers.store.serialization import pack, unpack

_KEY = ("sample_id", "reviewer", "is_settlement")
_SAID = tuple(field.name for field in fields(Review) if field.name not in (*_KEY, "created_at", "updated_at"))


class Reviews(Database):
    """The part of the store that keeps reviews."""

    def create_queue(self, queue: ReviewQueue) -> None:
        """Keep a queue; its samples never change.

        Raises:
            Conflict: there is one of that name.
        """
        values = {
            "name": queue.name,
            "job_id": queue.job_id,
            "mode": queue.mode,
            "choice": queue.choice,
            "samples": pack({"samples": queue.samples}),
        }
        try:
            with self.writing() as db:
                db.execute(insert(review_queues).values(**values, created_at=self.now(db)))
        except IntegrityError:
            raise Conflict(f"there is a queue {queue.name!r} already", field="name") from None

    def queues(self) -> list[ReviewQueue]:
        """All queues, newest first."""
        with self.reading() as db:
            order = (review_queues.c.created_at.desc(), review_queues.c.name)
            return [_queue(row) for row in db.execute(select(review_queues).order_by(*order)).mappings()]

    def queue(self, name: str) -> ReviewQueue:
        """The queue of that name.

        Raises:
            NotFound: there is none.
        """
        with self.reading() as db:
            query = select(review_queues).where(review_queues.c.name == name)
            row = db.execute(query).mappings().one_or_none()
        if row is None:
            raise NotFound(f"no review queue {name!r}", field="queue")
        return _queue(row)

    def reviews(self, queue: str) -> list[Review]:
        """All reviews of a queue, in the order in which they were begun."""
        order = (reviews.c.created_at, reviews.c.sample_id, reviews.c.reviewer)
        with self.reading() as db:
            rows = db.execute(select(reviews).where(reviews.c.queue == queue).order_by(*order))
            return [_review(row) for row in rows.mappings()]

    def add_answer(self, queue: str, review: Review) -> bool:
        """Keep a reviewer's own answer to a sample, unless there is one: the truth may have been shown since.

        Whether it was kept.
        """
        with self.writing() as db:
            values = _values(queue, review) | {"created_at": self.now(db), "updated_at": self.now(db)}
            insert_into = sqlite.insert if self._is_sqlite else postgresql.insert
            statement = insert_into(reviews).values(**values).on_conflict_do_nothing()
            return db.execute(statement.returning(reviews.c.sample_id)).first() is not None

    def decide(self, queue: str, review: Review) -> None:
        """Keep a decision: of a reviewer who has answered, or a settlement. It replaces an earlier one.

        Raises:
            Conflict: the reviewer has not answered the sample, so the truth was not shown.
        """
        said = {name: _values(queue, review)[name] for name in ("decision", "mended", "note")}
        with self.writing() as db:
            now = self.now(db)
            if review.is_settlement:
                values = _values(queue, review) | {"created_at": now, "updated_at": now}
                insert_into = sqlite.insert if self._is_sqlite else postgresql.insert
                statement = insert_into(reviews).values(**values)
                index = [reviews.c[name] for name in ("queue", *_KEY)]
                db.execute(
                    statement.on_conflict_do_update(index_elements=index, set_=said | {"updated_at": now})
                )
                return
            spent = reviews.c.seconds + (review.seconds or 0.0)
            blind = update(reviews).where(*_here(queue, review.sample_id, review.reviewer))
            if not db.execute(blind.values(**said, seconds=spent, updated_at=now)).rowcount:
                raise Conflict("answer the question before you judge its truth", field="sample_id")

    def undo_review(self, queue: str, reviewer: str, *, mode: str) -> str | None:
        """Take back a reviewer's last decision, or last answer where the truth is never shown; its sample.

        An answer that was given before the truth was shown stays: it could not be given again blindly.
        """
        own = (reviews.c.queue == queue, reviews.c.reviewer == reviewer, reviews.c.is_settlement == 0)
        done = (reviews.c.decision.is_not(None),) if mode == "judge" else ()
        with self.writing() as db:
            last = select(reviews.c.sample_id).where(*own, *done).order_by(reviews.c.updated_at.desc())
            sample_id = db.execute(last.limit(1)).scalar_one_or_none()
            if sample_id is None:
                return None
            here = _here(queue, sample_id, reviewer)
            if mode == "judge":
                db.execute(update(reviews).where(*here).values(decision=None, updated_at=self.now(db)))
            else:
                db.execute(delete(reviews).where(*here))
        return str(sample_id)

    def human_answers(self, job_id: str) -> list[HumanAnswer]:
        """The scored answers of people to the job's samples: of each person the first to a sample."""
        columns = (reviews.c.reviewer, reviews.c.sample_id, reviews.c.answer, reviews.c.score)
        query = (
            select(*columns)
            .join(review_queues, review_queues.c.name == reviews.c.queue)
            .where(review_queues.c.job_id == job_id, reviews.c.score.is_not(None))
            .order_by(reviews.c.created_at)
        )
        answers: dict[tuple[str, str], HumanAnswer] = {}
        with self.reading() as db:
            for person, sample_id, answer, score in db.execute(query):
                answers.setdefault(
                    (person, sample_id),
                    HumanAnswer(person=person, sample_id=sample_id, answer=answer, score=score),
                )
        return list(answers.values())

    def human_answers_stamp(self, job_id: str) -> tuple[int, float]:
        """How many scored answers of people the job has, and when the last came: it changes with each."""
        query = (
            select(func.count(), func.coalesce(func.max(reviews.c.created_at), 0.0))
            .select_from(review_queues)
            .join(reviews, review_queues.c.name == reviews.c.queue)
            .where(review_queues.c.job_id == job_id, reviews.c.score.is_not(None))
        )
        with self.reading() as db:
            count, latest = db.execute(query).one()
        return int(count), float(latest)


def _here(queue: str, sample_id: str, reviewer: str) -> tuple[ColumnElement[bool], ...]:
    """A reviewer's blind review of a sample."""
    return (
        reviews.c.queue == queue,
        reviews.c.sample_id == sample_id,
        reviews.c.reviewer == reviewer,
        reviews.c.is_settlement == 0,
    )


def _queue(row: RowMapping) -> ReviewQueue:
    samples = tuple(unpack(row["samples"])["samples"])
    return ReviewQueue(**{**row, "samples": samples})


def _review(row: RowMapping) -> Review:
    return Review(
        **{name: row[name] for name in row if name != "queue"} | {"is_settlement": bool(row["is_settlement"])}
    )


def _values(queue: str, review: Review) -> dict[str, Any]:
    values: Mapping[str, Any] = {name: getattr(review, name) for name in (*_KEY, *_SAID)}
    kept = {name: _storable(value) if isinstance(value, str) else value for name, value in values.items()}
    return {"queue": queue, **kept, "is_settlement": int(review.is_settlement)}


def _storable(text: str) -> str:
    """The text without what a database cannot hold."""
    return text.replace("\0", "").encode(errors="replace").decode()
