"""Deletes jobs with their media, those that are too old, and media that nothing names any more."""

import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gnomon.core.errors import Conflict, NotFound
from gnomon.media.uploads import FOLDER as UPLOADS
from gnomon.media.uploads import delete_old_parts
from gnomon.report.text_formats import count
from gnomon_service.settings import Settings
from gnomon_workers.store.records import Deletion
from gnomon_workers.store.store import Store

DAY_S = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaFreed:
    """Media that are deleted, or would be. While a job is open none is: its next trial may need any."""

    files: int = 0
    bytes: int = 0
    is_put_off: bool = False


def preview(settings: Settings, store: Store, job_id: str) -> dict[str, Any]:
    """What `delete` would delete, as plain data.

    Raises:
        NotFound: the job does not exist.
        Conflict: it runs, or one that runs needs it.
    """
    found = store.deletion(job_id)
    media = _free(store, _named_files(settings, store, job_id), without=job_id, is_dry=True)
    return _view(found, media)


def delete(settings: Settings, store: Store, job_id: str, *, by: str) -> dict[str, Any]:
    """Delete a job with the media that it alone names; what was deleted. Its seal and counts stay.

    Raises:
        NotFound: the job does not exist.
        Conflict: it runs, or one that runs needs it.
    """
    store.deletion(job_id)
    store.seal_results(job_id)
    files = _named_files(settings, store, job_id)
    found = store.delete_job(job_id, by=by)
    return _view(found, _free(store, files, is_dry=False))


def delete_unnamed_media(
    settings: Settings, store: Store, *, is_dry: bool, used_since_s: float = 0.0
) -> MediaFreed:
    """Delete the media that nothing names, of those used since then; uploads have a day to be named."""
    files, uploads, now_s = media_files(settings), uploaded(settings), time.time()
    if not is_dry:
        delete_old_parts(settings.data_dir / "media" / UPLOADS, before_s=now_s - DAY_S)
    files = {
        name: path
        for name, path in files.items()
        if (_used_s(path) < now_s - DAY_S if name in uploads else _used_s(path) >= used_since_s)
    }
    return _free(store, files, is_dry=is_dry)


def delete_old_jobs(store: Store, *, days: float) -> list[str]:
    """Delete the jobs that ended longer ago than that and are needed by none that runs; their ids."""
    deleted = []
    for job_id in store.ended_before(days * DAY_S):
        with suppress(Conflict, NotFound):  # needed, or another process was first
            store.seal_results(job_id)
            store.delete_job(job_id, by=f"kept for {days:g} days")
            deleted.append(job_id)
    return deleted


def media_files(settings: Settings) -> dict[bytes, Path]:
    """The files of the data folder's media, by the hex digest that names them."""
    found = (settings.data_dir / "media").glob("[0-9a-f][0-9a-f]/" + 64 * "[0-9a-f]")
    return {path.name.encode(): path for path in sorted(found)}


def uploaded(settings: Settings) -> dict[bytes, Path]:
    """The folders of uploads, by the hex digest of what was sent."""
    return {path.name.encode(): path for path in (settings.data_dir / "media" / UPLOADS).glob("[0-9a-f]*")}


def _named_files(settings: Settings, store: Store, job_id: str) -> dict[bytes, Path]:
    """The media that a job names, without uploads that somebody has sent again since it was posted."""
    files, uploads = media_files(settings), uploaded(settings)
    named = store.names_in_job(job_id) if files else set()
    posted_s = datetime.fromisoformat(store.job(job_id).created_at).timestamp()
    return {
        name: files[name]
        for name in files.keys() & named
        if name not in uploads or _used_s(files[name]) < posted_s
    }


def _free(store: Store, files: dict[bytes, Path], *, is_dry: bool, without: str = "") -> MediaFreed:
    """Delete those of these files that nothing names, unless one was used since this began."""
    began_s = time.time()
    if files and store.has_open_jobs():
        return MediaFreed(is_put_off=True)
    unnamed = store.unnamed(files, without=without) if files else ()
    sizes = [_size(files[name], is_dry=is_dry, before_s=began_s) for name in unnamed]
    return MediaFreed(files=sum(size is not None for size in sizes), bytes=sum(size or 0 for size in sizes))


def _used_s(path: Path) -> float:
    """When a file was used last, in seconds since 1970; 0 where it has gone."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _size(path: Path, *, is_dry: bool, before_s: float) -> int | None:
    """The size of a file that is deleted; None where it has gone, or was used since."""
    unpacked = path.parents[1] / UPLOADS / path.name
    try:
        status = path.stat()
        if status.st_mtime >= before_s:
            return None
        others = [file.stat() for file in unpacked.rglob("*") if file.is_file()]
        if not is_dry:
            path.unlink()
            shutil.rmtree(unpacked, ignore_errors=True)
    except FileNotFoundError:
        return None
    return status.st_size + sum(other.st_size for other in others if other.st_ino != status.st_ino)


def _view(found: Deletion, media: MediaFreed) -> dict[str, Any]:
    return {**asdict(found), "named_by": list(found.named_by), "media": asdict(media)}


def in_words(deleted: Iterable[dict[str, Any]]) -> str:
    """What was deleted, or would be, in a line."""
    views = list(deleted)
    sums = {name: sum(view[name] for view in views) for name in ("trials", "results", "reviews")}
    files, size = (sum(view["media"][name] for view in views) for name in ("files", "bytes"))
    counted = [f"{number:,} {name}" for name, number in sums.items()]
    return ", ".join([count(len(views), "job"), *counted, media_words(files, size)])


def media_words(files: int, size: int) -> str:
    """So many files of media.

    >>> media_words(1, 2_500_000)
    '1 media file (2.5 MB)'
    """
    return f"{count(files, 'media file')} ({size / 1e6:,.1f} MB)"
