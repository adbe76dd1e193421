"""Compares two jobs trial by trial: which scores, answers and outcomes have changed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isclose

from typing_extensions import TypedDict

from gnomon.core.row import Row
from gnomon.report.row_formats import escape_surrogates

LISTED = 200
ANSWER_CHARS = 120
NOISE = 1e-9  # scores that differ by less are the same, summed in another order


class TrialEnd(TypedDict):
    """How a trial ended in one of the jobs."""

    outcome: str
    score: float | None
    answer: str | None


class ChangedTrial(TypedDict):
    """A trial that both jobs have, and that ended otherwise in the second one."""

    model: str  # as the difference's report calls it
    sample_id: str
    repeat: int
    first: TrialEnd
    second: TrialEnd


class Changes(TypedDict):
    """Of the trials that both jobs have: how many scores, answers and outcomes are others.

    `listed` holds at most 200 trials of which the score or the answer changed, greatest change first.
    """

    trials: int
    scores: int
    answers: int
    outcomes: int
    listed: list[ChangedTrial]


@dataclass(slots=True, kw_only=True)
class SampleChanges:
    """By model and cell: how many samples have a score in both jobs, and how many of these scores differ."""

    compared: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    changed: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))


def changed_trials(first: Iterable[Row], second: Iterable[Row]) -> Changes:
    """What changed between two jobs whose rows carry the same names for the same model and arm."""
    before = {(row.model, row.sample_id, row.repeat): row for row in first}
    pairs = [
        (before[key], row) for row in second if (key := (row.model, row.sample_id, row.repeat)) in before
    ]
    scores = [pair for pair in pairs if not _same(pair[0].score, pair[1].score)]
    answers = [pair for pair in pairs if pair[0].answer != pair[1].answer]
    listed = {(row.model, row.sample_id, row.repeat): (old, row) for old, row in [*scores, *answers]}
    order = sorted(listed, key=lambda key: (-_size(*listed[key]), key))
    return {
        "trials": len(pairs),
        "scores": len(scores),
        "answers": len(answers),
        "outcomes": sum(old.outcome != new.outcome for old, new in pairs),
        "listed": [_changed(*listed[key]) for key in order[:LISTED]],
    }


def sample_changes(first: Iterable[Row], second: Iterable[Row]) -> SampleChanges:
    """The same by sample, whose score is the mean of its repeats; the scope `all` is every cell."""
    changes = SampleChanges()
    (before, _), (after, cells) = _means(first), _means(second)
    for (model, sample), score in after.items():
        if (model, sample) in before:
            for scope in ("all", cells[sample]):
                changes.compared[model, scope] += 1
                changes.changed[model, scope] += not _same(before[model, sample], score)
    return changes


def _means(rows: Iterable[Row]) -> tuple[Mapping[tuple[str, str], float], Mapping[str, str]]:
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    cells: dict[str, str] = {}
    for row in rows:
        if row.score is not None:
            scores[row.model, row.sample_id].append(row.score)
            cells[row.sample_id] = row.cell
    return {key: sum(values) / len(values) for key, values in scores.items()}, cells


def _same(before: float | None, after: float | None) -> bool:
    if before is None or after is None:
        return before is after
    return isclose(before, after, rel_tol=0.0, abs_tol=NOISE)


def _size(old: Row, new: Row) -> float:
    """How much a score changed; a score that came or went counts as the whole scale."""
    if old.score is None or new.score is None:
        return 0.0 if old.score is new.score else 1.0
    return abs(new.score - old.score)


def _changed(old: Row, new: Row) -> ChangedTrial:
    return {
        "model": new.model,
        "sample_id": new.sample_id,
        "repeat": new.repeat,
        "first": _end(old),
        "second": _end(new),
    }


def _end(row: Row) -> TrialEnd:
    answer = None if row.answer is None else escape_surrogates(row.answer[:ANSWER_CHARS])
    return {"outcome": row.outcome, "score": row.score, "answer": answer}
