"""Takes files of questions that people upload, as long as there is room, and tells what is in them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gnomon.benchmarks.questions.columns import ColumnNames, Named
from gnomon.benchmarks.questions.loader import find_file, read_file
from gnomon.benchmarks.questions.preview import preview
from gnomon.benchmarks.questions.rows import Reading
from gnomon.benchmarks.questions.scorers.scorers import make_scorer
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.errors import DataError, FaultyFile, NoRoom
from gnomon.core.sample import ImageRef, Sample
from gnomon.media import MediaStore
from gnomon.media.uploads import bytes_of_uploads, folder_of, is_kept, keep_upload, one_at_a_time
from gnomon_service.answers import AskedView, UploadView
from gnomon_service.settings import Settings

GIGABYTE = 1_000_000_000
LARGE_BYTES = 4_000_000  # of a file that is not read through while somebody types
PACKED = {".xlsx": 8, ".parquet": 8}  # how many times as large the rows of such a file are, about


def keep(file: Path, kind: str, settings: Settings, media: MediaStore) -> str:
    """Keep a file that was sent, which moves from its `new_part` into the media; what a spec calls it.

    Raises:
        DataError: it is a zip that is broken, or that unpacks to too much.
        NoRoom: the disk or what uploads may take of it is full.
    """
    with one_at_a_time(media):
        left = settings.upload_gb * GIGABYTE - bytes_of_uploads(media) - file.stat().st_size
        if left < 0 and not is_kept(file, kind, media):
            message = f"uploads have no room left: they may take {settings.upload_gb:,} GB (GNOMON_UPLOAD_GB)"
            raise NoRoom(f"{message}. Delete jobs that name uploads to make room", field="data")
        return keep_upload(file, kind, media, most_unpacked=left)


def reading_of(columns: Named, scorer: str | Mapping[str, Any] | None) -> Reading:
    """How to read a file.

    Raises:
        SpecError: a column or the scorer is not allowed.
    """
    named = ColumnNames(named=dict(columns))
    return Reading(columns=named, scorer=None if scorer is None else make_scorer(scorer))


def is_large(data: str, media: MediaStore) -> bool:
    """Whether it takes a while to read the questions of an upload through."""
    path = find_file(folder_of(data, media))
    return path.stat().st_size * PACKED.get(path.suffix.lower(), 1) > LARGE_BYTES


def view_of(
    data: str,
    reading: Reading,
    media: MediaStore,
    *,
    protocol: PromptProtocol = "guarded",
    is_read_through: bool = True,
) -> UploadView:
    """What is in an upload; its faults are those of all rows where it is read through, else none.

    Raises:
        DataError: it is not kept here, or holds no file of questions.
    """
    folder = folder_of(data, media)
    beginning = preview(folder, reading, protocol=protocol, media=media)
    count: int | None = None
    faults: list[str] = []
    if is_read_through:
        try:
            count = len(read_file(find_file(folder), reading).entries)
        except FaultyFile as error:
            faults = [line.strip() for line in error.message.splitlines()]
        except DataError as error:
            faults = [str(error)]
    return {
        "data": data,
        "file": beginning.file,
        "columns": dict(beginning.columns),
        "read_as": dict(beginning.read_as),
        "questions": count,
        "faults": faults,
        "preview": [_asked(sample) for sample in beginning.samples],
    }


def _asked(sample: Sample) -> AskedView:
    parts = [
        {"image": part.content.sha256} if isinstance(part.content, ImageRef) else {"text": str(part.content)}
        for part in sample.parts
    ]
    return {"sample_id": sample.ref.sample_id, "task": sample.ref.task, "parts": parts}
