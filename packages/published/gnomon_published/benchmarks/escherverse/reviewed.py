"""The published questions that people agreed on, kept or fixed in a review, in the published form."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gnomon.media.clip_folders import USUAL
from gnomon.whole_file import require_new_folder
from gnomon_analyses.reviews.consensus import Consensus
from gnomon_analyses.reviews.decisions import Decision
from gnomon_published.benchmarks.escherverse.loader import FILE
from gnomon_published.unique_rows import json_rows


def read_questions(data: Path) -> list[dict[str, Any]]:
    """The published entries, each with its index as text under `sample_id`'s rule.

    Raises:
        DataError: the file is absent or holds no list.
    """
    return [entry for entry in json_rows(data / FILE) if isinstance(entry, dict)]


def by_index(entries: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The entries by the id that their samples carry."""
    return {str(entry.get("index", number)).strip(): entry for number, entry in enumerate(entries)}


def write_reviewed(
    results: Sequence[Consensus], decisions: Mapping[str, Decision], *, data: Path, out: Path
) -> dict[str, int]:
    """Write the published file with agreed, kept and fixed questions only, the clips linked; how many each.

    A question without a decision is left out and counted as `undecided`.

    Raises:
        SpecError: `out` is not new or empty.
        DataError: as `read_questions`.
    """
    require_new_folder(out)
    entries = by_index(read_questions(data))
    counts = dict.fromkeys(("agreed", "keep", "fix", "drop", "undecided"), 0)
    kept = []
    for result in results:
        decided = decisions.get(result.sample_id)
        choice = decided.decision if decided else None
        name = choice or ("agreed" if result.standing == "agreed" else "undecided")
        counts[name] += 1
        if name in {"agreed", "keep", "fix"} and result.sample_id in entries:
            answer = {"A": decided.answer} if decided and choice == "fix" else {}
            kept.append({**entries[result.sample_id], **answer})
    out.mkdir(parents=True, exist_ok=True)
    (out / FILE).write_text(json.dumps(kept, ensure_ascii=False, indent=1), encoding="utf-8")
    for folder in USUAL:
        if (data / folder).is_dir():
            (out / folder).symlink_to((data / folder).resolve(), target_is_directory=True)
    return counts
