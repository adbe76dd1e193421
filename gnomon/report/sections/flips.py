"""Lists the samples that one arm got right and the other wrong, with both traces side by side."""

import json
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

import numpy as np
from typing_extensions import TypedDict

from gnomon.report.pairs import ArmPair
from gnomon.report.row_formats import escape_surrogates
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import PairKey, ReadTrace, ReportInput, Section, pair_key
from gnomon.stopping import while_wanted

LISTED = 200
TRACED_PRIMARY, TRACED = 40, 8  # flips that open both traces
CHARS = 700  # of a step that are shown
StoredStep = Mapping[str, Any]
StoredTrace = Mapping[str, Any]


class TraceStep(TypedDict):
    """One step of a trace, shortened: `kind` is reply, tool or note."""

    kind: str
    title: str
    text: str


class AlignedStep(TypedDict):
    """A step of each trace, or of one of them; `same`: word for word."""

    baseline: TraceStep | None
    variant: TraceStep | None
    same: bool


class Alignment(TypedDict):
    """Two traces side by side; `diverges_at` is the first row that is not the same."""

    steps: list[AlignedStep]
    diverges_at: int | None


class FlippedSample(TypedDict):
    """A sample that one arm got right and the other wrong."""

    sample_id: str
    cell: str
    kind: Literal["rescued", "broken"]
    baseline_score: float
    variant_score: float
    baseline_answer: str | None
    variant_answer: str | None
    baseline_trial: str | None
    variant_trial: str | None
    aligned: Alignment | None


class Flips(TypedDict):
    """The flipped samples of one comparison; `total` counts those not listed too."""

    model: str
    baseline: str
    variant: str
    total: int
    traced: int
    samples: list[FlippedSample]


class FlipsPart(TypedDict):
    """The flipped samples of every comparison."""

    flips: list[Flips]


def _all_flips(report_input: ReportInput) -> FlipsPart:
    pairs = while_wanted(report_input.pairs)
    return {"flips": [_flips(report_input.scores, pair, trace=report_input.trace) for pair in pairs]}


def _flips(scores: ScoreMatrix, pair: ArmPair, *, trace: ReadTrace) -> Flips:
    """The flipped samples of a pair, greatest change first, at most 200 of them.

    `trace` reads a stored trace; the first 40 rows of a primary pair (8 of another) hold both, aligned.
    """
    first, second = scores.groups_of(pair)
    baseline, variant = scores.means(first), scores.means(second)
    both = np.isfinite(baseline) & np.isfinite(variant)
    is_right = scores.right(second)
    flipped = np.flatnonzero(both & (scores.right(first) != is_right))
    change = np.abs(variant[flipped] - baseline[flipped])
    order = np.argsort(-change, kind="stable")  # of equal changes the first name first: samples are sorted
    traced = TRACED_PRIMARY if pair.is_primary else TRACED

    def listed(sample: int, place: int) -> FlippedSample:
        name, ids = (
            scores.samples[sample],
            (scores.trial(first, sample), scores.trial(second, sample)),
        )
        return {
            "sample_id": name,
            "cell": scores.cell_names[scores.cells[sample]],
            "kind": "rescued" if is_right[sample] else "broken",
            "baseline_score": float(baseline[sample]),
            "variant_score": float(variant[sample]),
            "baseline_answer": scores.answer(first, sample),
            "variant_answer": scores.answer(second, sample),
            "baseline_trial": ids[0],
            "variant_trial": ids[1],
            "aligned": align(trace(ids[0]), trace(ids[1])) if place < traced and ids[0] and ids[1] else None,
        }

    return {
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "total": len(flipped),
        "traced": min(traced, len(flipped)),
        "samples": [listed(sample, place) for place, sample in enumerate(flipped[order[:LISTED]].tolist())],
    }


def align(baseline: StoredTrace | None, variant: StoredTrace | None) -> Alignment | None:
    """The steps of two stored traces in rows; None where one of them is not kept.

    Steps of one kind (and one tool) are shown side by side: a call that only one trial made leaves a gap.
    `diverges_at` is the first row whose sides are not the same, word for word; None where all are.
    """
    if baseline is None or variant is None:
        return None
    left, right = _steps(baseline), _steps(variant)
    rows: list[AlignedStep] = []
    for _, a, b, c, d in SequenceMatcher(None, _kinds(left), _kinds(right), autojunk=False).get_opcodes():
        for at in range(max(b - a, d - c)):
            first = left[a + at] if a + at < b else None
            second = right[c + at] if c + at < d else None
            rows.append({"baseline": _shown(first), "variant": _shown(second), "same": _same(first, second)})
    return {
        "steps": rows,
        "diverges_at": next((at for at, row in enumerate(rows) if not row["same"]), None),
    }


def _steps(trace: StoredTrace) -> list[StoredStep]:
    return [step for step in trace.get("steps", ()) if isinstance(step, Mapping)]


def _kinds(steps: Sequence[StoredStep]) -> list[str]:
    """What is shown side by side: `reply` with `reply`, a tool with the same tool."""
    return [f"{step.get('kind')} {step.get('name', '')}" for step in steps]


def _same(first: StoredStep | None, second: StoredStep | None) -> bool:
    if first is None or second is None:
        return False
    return all(
        first.get(key) == second.get(key) for key in ("kind", "name", "arguments", "observation", "text")
    ) and (_calls(first) == _calls(second))


def _calls(step: StoredStep) -> list[tuple[str, str]]:
    functions = [call.get("function", {}) for call in step.get("tool_calls") or ()]
    return [(str(call.get("name")), str(call.get("arguments"))) for call in functions]


def _shown(step: StoredStep | None) -> TraceStep | None:
    if step is None:
        return None
    kind = str(step.get("kind"))
    if kind == "tool":
        title, text = f"{step.get('name')}({step.get('arguments')})", str(step.get("observation") or "")
        title = f"{title} failed: {step['error']}" if step.get("error") else title
    else:
        calls = ", ".join(f"{name}({arguments})" for name, arguments in _calls(step))
        title, text = (f"calls {calls}" if calls else ""), _text(step.get("text"))
        if reasoning := _text(step.get("reasoning")):
            text = f"{text}\n\n(reasoning) {reasoning}" if text else f"(reasoning) {reasoning}"
    return {"kind": kind, "title": _cut(title), "text": _cut(text)}


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)


def _cut(text: str) -> str:
    return escape_surrogates(text if len(text) <= CHARS else f"{text[:CHARS]}… ({len(text):,} characters)")


def _view(report: FlipsPart) -> Mapping[PairKey, Mapping[str, object]]:
    return {pair_key(flip): {"flip": flip} for flip in report["flips"]}


flips = Section(
    name="flips",
    title="Which samples flipped",
    question="Which samples did one arm get right and the other wrong, and where did their traces part?",
    fields=FlipsPart,
    compute=_all_flips,
    place=51,
    view=_view,
    per_comparison=True,
)
