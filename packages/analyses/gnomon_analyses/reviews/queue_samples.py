"""Chooses the samples of a job that a review queue holds."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from gnomon.core.errors import SpecError
from gnomon.core.review import Choice
from gnomon.core.row import Row
from gnomon.core.score import REMARK, UNCHECKED
from gnomon.report.score_matrix import RIGHT
from gnomon_analyses.reviews.consensus import consensus_of

IN_WORDS: Mapping[Choice, str] = {
    "all": "all samples",
    "random": "samples drawn at random",
    "all_wrong": "samples that every model and arm got wrong",
    "disputed": "samples on which all models or arms give the same answer, and it is not the truth",
    "flagged": "samples with a flagged answer",
    "doubtful": "samples near a limit of the build that made them, the most doubtful first",
}


def choose_samples(
    choice: Choice,
    samples: Sequence[str],
    rows: Iterable[Row],
    *,
    doubtful: Iterable[str] = (),
    limit: int | None = None,
    seed: int = 0,
) -> list[str]:
    """The ids of the chosen samples, in the job's order; `limit` draws that many of them by `seed`.

    Those that are `doubtful` keep their order, and `limit` takes the first.

    Raises:
        SpecError: none is left, or `random` comes without `limit`.
    """
    if choice == "random" and limit is None:
        raise SpecError("say how many samples to draw", field="limit")
    if choice in ("all", "random"):
        chosen = list(samples)
    elif choice == "doubtful":
        known = set(samples)
        chosen = [sample_id for sample_id in doubtful if sample_id in known][:limit]
    else:
        wanted = set(_matching(choice, rows))
        chosen = [sample_id for sample_id in samples if sample_id in wanted]
    if limit is not None and limit < len(chosen):
        drawn = np.random.default_rng(seed).choice(len(chosen), size=limit, replace=False)
        chosen = [chosen[at] for at in sorted(drawn)]
    if not chosen:
        raise SpecError(f"the job has no {IN_WORDS[choice]}", field="choice")
    return chosen


def _matching(choice: Choice, rows: Iterable[Row]) -> Iterator[str]:
    if choice == "flagged":
        yield from (row.sample_id for row in rows if _is_flagged(row))
    elif choice == "all_wrong":
        best: dict[str, float] = defaultdict(float)
        for row in rows:
            if row.score is not None:
                best[row.sample_id] = max(best[row.sample_id], row.score)
        yield from (sample_id for sample_id, score in best.items() if score < RIGHT)
    else:
        yield from _disputed(rows)


def _is_flagged(row: Row) -> bool:
    return any(not flag.startswith((REMARK, UNCHECKED)) for flag in row.flags)


def _disputed(rows: Iterable[Row]) -> Iterator[str]:
    """Where every model under every arm votes for one and the same answer, and that is not the truth."""
    votes = [
        {
            "benchmark": row.benchmark,
            "task": row.task,
            "sample_id": row.sample_id,
            "model": f"{row.model} / {row.arm}",
            "score": row.score,
            "answer": row.answer,
        }
        for row in rows
    ]
    if len({vote["model"] for vote in votes}) < 2:
        raise SpecError("disputed samples need answers of two models or arms", field="choice")
    yield from (result.sample_id for result in consensus_of(votes) if result.standing == "gold_doubtful")
