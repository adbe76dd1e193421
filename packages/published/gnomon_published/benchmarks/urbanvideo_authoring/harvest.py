"""Writes questions that models wrote as UrbanVideo-Bench's published file."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gnomon.core.ids import stable_hash
from gnomon.whole_file import require_new_folder
from gnomon_analyses.reviews.rows import Row


def write_harvest(rows: Sequence[Row], *, data: Path, out: Path) -> int:
    """Write `MCQ.parquet` of the well-formed questions, the clips linked; how many there are.

    Each keeps who wrote it (`author`). The same question written twice about a clip is one.

    Raises:
        SpecError: `out` is not new or empty.
    """
    require_new_folder(out)
    questions: dict[str, dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (row["sample_id"], row["model"])):
        if row["score"] != 1.0:
            continue
        written = json.loads(row["answer"])
        questions.setdefault(
            stable_hash(row["cluster"], written["question"]),
            {
                "Question_id": len(questions),
                "video_id": row["cluster"],
                "question_category": row["task"],
                "question": written["question"],
                "answer": written["answer"],
                "author": row["model"],
            },
        )
    out.mkdir(parents=True, exist_ok=True)
    columns = ("Question_id", "video_id", "question_category", "question", "answer", "author")
    table = pa.table({name: [row[name] for row in questions.values()] for name in columns})
    pq.write_table(table, out / "MCQ.parquet")
    if (data / "videos").is_dir():
        (out / "videos").symlink_to((data / "videos").resolve(), target_is_directory=True)
    return len(questions)
