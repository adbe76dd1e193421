"""Says what changing one tool's result did to the answers of a job that replays an earlier one."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from typing_extensions import TypedDict

from gnomon.core.arm import Arm
from gnomon.core.clusters import coarsest
from gnomon.core.row import Row
from gnomon.core.row_batch import RowBatch
from gnomon.report.cluster_codes import plain_design
from gnomon.report.section import Interval, ReportInput, Section, interval
from gnomon.report.text_formats import count, percent
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.design import Codes, Floats
from gnomon.statistics.mean import mean_score
from gnomon.statistics.paired import compare
from gnomon.trials.replay import ANSWER, CALL, CHANGED, TOOL

LAST_STEP = 4  # calls from here on share a line
Cell = tuple[str, str, str, int]  # model, arm, sample, repeat


class ReplayRow(TypedDict):
    """Changed calls of one kind: how often the answer changed, and what that did to the score."""

    model: str
    variant: str
    by: str  # all, tool or step; again: as recorded, against the answer of the stored trial
    name: str
    trials: int  # replayed with a result that differs, and as recorded, both with an answer or a failure
    samples: int
    clusters: int
    answer_changed: float | None
    answer_changed_ci95: Interval
    diff: float | None
    ci95: Interval


class Replayed(TypedDict):
    """What was replayed, and what changing it did."""

    job: str
    arm: str
    tool: str | None
    control: str
    unchanged: dict[str, int]  # by arm: trials whose changed result was the recorded one all the same
    rows: list[ReplayRow]


class ReplaysPart(TypedDict):
    """The section's field."""

    replays: Replayed | None


class _Collector:
    """Keeps what each replayed trial came to."""

    def __init__(self) -> None:
        self.rows: dict[Cell, Row] = {}

    def add(self, batch: RowBatch) -> None:
        for row in batch.rows(batch.distinct("metrics").places(lambda metrics: TOOL in metrics)):
            if row.score is not None:
                self.rows[row.model, row.arm, row.sample_id, row.repeat] = row


def _part(report_input: ReportInput) -> ReplaysPart:
    control = control_of(report_input.spec)
    if control is None or control.replay is None:
        return {"replays": None}
    rows = report_input.collected(_Collector).rows
    cells: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in sorted(rows):
        cells[cell[:2]].append(cell)
    unchanged: dict[str, int] = {}
    table: list[ReplayRow] = []
    for model in report_input.models:
        for arm in report_input.spec.arms:
            if arm.name == control.name:
                again = [rows[cell] for cell in cells.get((model, arm.name), ())]
                table += _again(model, arm.name, [row for row in again if ANSWER in row.metrics])
            if arm.replay is None or arm.name == control.name:
                continue
            pairs = list(_pairs(rows, cells.get((model, arm.name), ()), control.name))
            same = sum(not changed.metrics[CHANGED] for changed, _ in pairs)
            unchanged[arm.name] = unchanged.get(arm.name, 0) + same
            table += _table(model, arm.name, [pair for pair in pairs if pair[0].metrics[CHANGED]])
    replay = control.replay
    return {
        "replays": {
            "job": replay.job,
            "arm": replay.arm,
            "tool": replay.tool,
            "control": control.name,
            "unchanged": unchanged,
            "rows": table,
        }
    }


def control_of(spec: JobSpec) -> Arm | None:
    """The arm that goes on with what was recorded."""
    replayed = (arm for arm in spec.arms if arm.replay is not None and arm.replay.result == "recorded")
    return next(replayed, None)


Pair = tuple[Row, Row]  # with the changed result, and as recorded


def _pairs(rows: Mapping[Cell, Row], cells: Iterable[Cell], control: str) -> Iterator[Pair]:
    for model, arm, sample, repeat in cells:
        recorded = rows.get((model, control, sample, repeat))
        if recorded is not None:
            yield rows[model, arm, sample, repeat], recorded


def _table(model: str, arm: str, pairs: Sequence[Pair]) -> Iterator[ReplayRow]:
    yield _row(model, arm, "all", "all calls", pairs)
    for tool in sorted({str(changed.metrics[TOOL]) for changed, _ in pairs}):
        yield _row(model, arm, "tool", tool, [pair for pair in pairs if pair[0].metrics[TOOL] == tool])
    steps = sorted({_step(changed) for changed, _ in pairs})
    for step in steps:
        name = f"call {step}" if step < LAST_STEP else f"call {step} or later"
        yield _row(model, arm, "step", name, [pair for pair in pairs if _step(pair[0]) == step])


def _again(model: str, control: str, rows: Sequence[Row]) -> Iterator[ReplayRow]:
    """How often the answer as recorded is not the stored trial's own: what chance moves alone."""
    if rows:
        stored = [(row, replace(row, answer=str(row.metrics[ANSWER]))) for row in rows]
        yield {**_row(model, control, "again", "none: the stored answer", stored), "diff": None, "ci95": None}


def _step(row: Row) -> int:
    return min(LAST_STEP, int(float(row.metrics[CALL] or 0)))


def _row(model: str, arm: str, by: str, name: str, pairs: Sequence[Pair]) -> ReplayRow:
    clusters = {changed.sample_id: changed.cluster or changed.sample_id for changed, _ in pairs}
    samples = sorted(clusters)
    row: ReplayRow = {
        "model": model,
        "variant": arm,
        "by": by,
        "name": name,
        "trials": len(pairs),
        "samples": len(samples),
        "clusters": len(set(coarsest(list(clusters.values())))),
        "answer_changed": None,
        "answer_changed_ci95": None,
        "diff": None,
        "ci95": None,
    }
    if not pairs:
        return row
    place = {sample: index for index, sample in enumerate(samples)}
    codes = np.array([place[changed.sample_id] for changed, _ in pairs], dtype=np.intp)
    grouping = plain_design([clusters[sample] for sample in samples])
    after = _by_sample(codes, [changed.score or 0.0 for changed, _ in pairs])
    before = _by_sample(codes, [control.score or 0.0 for _, control in pairs])
    moved = _by_sample(codes, [float(changed.answer != control.answer) for changed, control in pairs])
    comparison, share = compare(before, after, grouping), mean_score(moved, grouping)
    row["answer_changed"], row["answer_changed_ci95"] = share.mean, interval(share.ci95)
    row["diff"], row["ci95"] = comparison.diff, interval(comparison.ci95)
    return row


def _by_sample(codes: Codes, values: Sequence[float]) -> Floats:
    return np.bincount(codes, np.asarray(values)) / np.bincount(codes)


def _view(report: ReplaysPart) -> Mapping[str, object] | None:
    replays = report.get("replays")  # absent from reports of older versions
    return {"replays": replays} if replays and replays["rows"] else None


def _terminal(report: ReplaysPart) -> Iterable[str]:
    replays = report.get("replays")
    rows = [row for row in replays["rows"] if row["by"] in ("all", "again")] if replays else []
    if rows:
        yield ""
    for row in rows:
        if row["answer_changed"] is not None:
            ends = row["answer_changed_ci95"]
            sure = f"; 95 % interval {percent(ends[0])} to {percent(ends[1])}" if ends else ""
            changed = f"the answer changed in {percent(row['answer_changed'])} % of trials"
            trials = count(row["trials"], "trial")
            how = "in place of what was recorded"
            if row["by"] == "again":
                how = "as recorded, asked anew: by chance alone"
            yield f"{row['model']}, “{row['variant']}” {how}: {changed} ({trials}{sure})."


replays = Section(
    name="replays",
    title="What each call does to the answer",
    question="Had a tool returned something else, would the model have answered something else?",
    fields=ReplaysPart,
    compute=_part,
    place=56,
    behind="reliability",
    collector=lambda *_: _Collector(),
    view=_view,
    terminal=_terminal,
)
