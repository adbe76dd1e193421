"""Write: questions of recordings in STI-Bench's published layout, so that they run as `sti-bench`."""

import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pyarrow.parquet as pq

from gnomon.core.errors import DataError, SpecError
from gnomon.recordings.questions import Maker, Row
from gnomon.recordings.recording import read_recording


def write_questions(recordings: Sequence[Path], out: Path, *, seed: int = 0) -> dict[str, int]:
    """Write `qa.parquet` and `video/`; how many questions there are of each task.

    A recording names its clip beside it; clips that are not there are left out, and their questions stay.

    Raises:
        DataError: a file is no recording, or two name one clip.
        SpecError: `out` is not new or empty.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SpecError(f"{out} is not a new or empty folder", field="--out")
    rows: list[Row] = []
    clips: dict[str, Path] = {}
    for path in recordings:
        recording = read_recording(path)
        if recording.clip in clips or PurePosixPath(recording.clip).name != recording.clip:
            raise DataError(
                f"{path.name}: {recording.clip!r} is a path, or another recording's", field="clip"
            )
        clips[recording.clip] = path.parent / recording.clip
        rows += Maker(recording, seed=seed).rows()
    (out / "video").mkdir(parents=True)
    for name, source in clips.items():
        if source.is_file():
            shutil.copyfile(source, out / "video" / name)
    pq.write_table(pa.Table.from_pylist(rows), out / "qa.parquet")
    tasks = [row["Task"] for row in rows]
    return {task: tasks.count(task) for task in sorted(set(tasks))}
