"""Lists the newest answers of a benchmark over all its jobs, without their traces."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import select

from gnomon.core.errors import SpecError
from gnomon.core.row import COLUMNS, Row
from gnomon_workers.store.database import Database
from gnomon_workers.store.jobs import number_of
from gnomon_workers.store.records import OPEN, Page
from gnomon_workers.store.schema import jobs, results
from gnomon_workers.store.serialization import row_in_order

JOBS_PER_PAGE = 200  # how many are looked into for one page: most have an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A row that holds an answer, and its job's name."""

    job_name: str
    row: Row


class Answers(Database):
    """The part of the store that lists answers of one benchmark."""

    def newest_answers(
        self,
        benchmark: str,
        tasks: Collection[str],
        *,
        owner: str = "",
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[Answered]:
        """Answers to questions of these tasks, of the newest job first, and in it the newest first; with
        `owner`, of jobs of that owner.

        Raises:
            SpecError: the cursor is none of ours.
        """
        job_number, seq = _position(cursor)
        own_jobs = select(jobs.c.number, jobs.c.id, jobs.c.name).where(jobs.c.benchmark == benchmark)
        if owner:
            own_jobs = own_jobs.where(jobs.c.owner == owner)
        if job_number is not None:
            own_jobs = own_jobs.where(jobs.c.number <= job_number)
        answers: list[Answered] = []
        last: str | None = None
        with self.reading() as db:
            listed = db.execute(own_jobs.order_by(jobs.c.number.desc()).limit(JOBS_PER_PAGE + 1)).all()
            for number, job_id, name in listed[:JOBS_PER_PAGE]:
                query = select(results.c.seq, *(results.c[column] for column in COLUMNS)).where(
                    results.c.job_id == job_id, results.c.task.in_(tasks), results.c.answer.is_not(None)
                )
                if number == job_number and seq is not None:
                    query = query.where(results.c.seq < seq)
                # One more than the page holds says whether there is a next one.
                query = query.order_by(results.c.seq.desc()).limit(limit - len(answers) + 1)
                for own_seq, *values in db.execute(query):
                    if len(answers) == limit:
                        return Page(items=tuple(answers), next_cursor=last)
                    answers.append(Answered(job_name=name, row=row_in_order(tuple(values))))
                    last = f"{number}.{own_seq}"
        # Past the jobs looked into there may be more, from the whole of the next job on.
        left = f"{listed[JOBS_PER_PAGE].number}" if len(listed) > JOBS_PER_PAGE else None
        return Page(items=tuple(answers), next_cursor=left)

    def unfinished_jobs_of(self, benchmark: str, *, owner: str = "", limit: int = 20) -> tuple[str, ...]:
        """The ids of the newest jobs of a benchmark that are queued or running; with `owner`, of theirs."""
        query = select(jobs.c.id).where(jobs.c.benchmark == benchmark, jobs.c.status.in_(OPEN))
        if owner:
            query = query.where(jobs.c.owner == owner)
        with self.reading() as db:
            return tuple(db.execute(query.order_by(jobs.c.number.desc()).limit(limit)).scalars())


def _position(cursor: str | None) -> tuple[int | None, int | None]:
    """The number of a job and, within it, of a result, as a cursor has them."""
    if cursor is None:
        return None, None
    job, dot, seq = cursor.partition(".")
    if dot and not seq:
        raise SpecError(f"{cursor!r} is no cursor; pass on next_cursor as it came", field="cursor")
    return number_of(job), number_of(seq) if seq else None
