"""Offers a stored job to the modules that write it in the formats of others."""

from collections.abc import Iterator
from functools import partial

from gnomon.core.errors import NotFound
from gnomon.core.row import Row
from gnomon.exchange.job_export import ExportedJob, ReadQuestion
from gnomon.media import MediaStore
from gnomon.report.sections.integrity import gnomon_version
from gnomon_workers.store.store import Store

PAGE = 1_000  # rows that are in memory at a time


def exported_job(
    store: Store, job_id: str, *, question: ReadQuestion, media: MediaStore, with_media: bool
) -> ExportedJob:
    """The job as an export sees it.

    Raises:
        NotFound: it does not exist.
    """
    job = store.job(job_id)
    return ExportedJob(
        job_id=job_id,
        spec=job.spec,
        created=job.created_at,
        started=job.started_at or job.created_at,
        version=gnomon_version(),
        rows=partial(_rows, store, job_id),
        trace=store.trace,
        refs=partial(store.refs, job_id),
        question=question,
        picture=partial(_picture, media),
        report=partial(_report, store, job_id),
        with_media=with_media,
    )


def _rows(store: Store, job_id: str, model: str | None, arm: str | None) -> Iterator[Row]:
    if model is None and arm is None:
        yield from store.iter_rows(job_id)
        return
    for rows in store.pages(job_id, limit=PAGE, model=model, arm=arm):
        yield from rows


def _picture(media: MediaStore, sha256: str) -> bytes | None:
    try:
        return media.read(sha256)
    except (NotFound, OSError):
        return None


def _report(store: Store, job_id: str) -> "dict[str, object]":
    from gnomon_service.reports import report_of  # heavy, and needed by one format

    return dict(report_of(store, job_id))
