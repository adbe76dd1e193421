"""Keeps what reviewers say of samples: one decision for each reviewer and sample of a queue."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, select
from sqlalchemy.dialects import postgresql, sqlite

from workers.store.database import Database
from workers.store.records import iso
from workers.store.schema import reviews


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A reviewer's decision on a sample of a queue; the caller chooses the queue's name and the words.

    `answer` is the corrected answer or the reviewer's own, `seconds` how long the sample was looked at, and
    `saw_truth` whether the reference answer was shown before the decision.
    """

    queue: str
    sample_id: str
    reviewer: str
    decision: str
    answer: str | None = None
    note: str = ""
    seconds: float | None = None
    saw_truth: bool = False
    created_at: str = ""  # set by the store, as is the next
    updated_at: str = ""


class Reviews(Database):
    """The part of the store that keeps reviews."""

    def add_review(self, review: Review) -> None:
        """Keep a review; it replaces the reviewer's earlier one of the sample, whose first time stays."""
        key = {"queue": review.queue, "sample_id": review.sample_id, "reviewer": review.reviewer}
        said = {
            "decision": _storable(review.decision),
            "answer": None if review.answer is None else _storable(review.answer),
            "note": _storable(review.note),
            "seconds": review.seconds,
            "saw_truth": int(review.saw_truth),
        }
        insert = sqlite.insert if self._is_sqlite else postgresql.insert
        with self.writing() as db:
            said["updated_at"] = now = self.now(db)
            statement = insert(reviews).values(**key, **said, created_at=now)
            db.execute(
                statement.on_conflict_do_update(index_elements=[reviews.c[name] for name in key], set_=said)
            )

    def remove_review(self, queue: str, sample_id: str, reviewer: str) -> bool:
        """Take a review back; whether there was one."""
        own = (reviews.c.queue == queue, reviews.c.sample_id == sample_id, reviews.c.reviewer == reviewer)
        with self.writing() as db:
            return bool(db.execute(delete(reviews).where(*own)).rowcount)

    def reviews(self, queue: str) -> Sequence[Review]:
        """All reviews of a queue, by sample, each sample's first review first."""
        order = (reviews.c.sample_id, reviews.c.created_at, reviews.c.reviewer)
        with self.reading() as db:
            rows = db.execute(select(reviews).where(reviews.c.queue == queue).order_by(*order)).mappings()
            return [
                Review(
                    **{
                        **row,
                        "saw_truth": bool(row["saw_truth"]),
                        "created_at": iso(row["created_at"]),
                        "updated_at": iso(row["updated_at"]),
                    }
                )
                for row in rows
            ]

    def count_reviews(self) -> dict[str, int]:
        """How many reviews there are, by queue."""
        with self.reading() as db:
            counted = select(reviews.c.queue, func.count()).group_by(reviews.c.queue)
            return dict(db.execute(counted.order_by(reviews.c.queue)).all())


def _storable(text: str) -> str:
    """The text without what a database cannot hold."""
    return text.replace("\0", "").encode(errors="replace").decode()
