"""Counts the path from a call to the answer: called, got a right result, used it, answered right.

What is right and what is used: `gnomon_analyses.call_paths`. All of it is an association: models call tools
on the questions that they find hard, so the shares are no effects of calling.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.core.benchmark import view_of
from gnomon.core.ids import stable_seed
from gnomon.core.row import Row
from gnomon.report.cluster_codes import plain_design
from gnomon.report.score_matrix import RIGHT
from gnomon.report.section import interval
from gnomon.report.text_formats import count, percent
from gnomon.statistics.mean import mean_score
from gnomon.traces.turns import prompt_texts, read_turns
from gnomon_analyses.call_paths import WORD, CallValues, Known, call_values, known_in, used_calls
from gnomon_analyses.kinds import ComputedFromJob, need
from gnomon_analyses.stored_job import StoredJob

MIN_TRIALS = 20
LIMITS = (
    "This is association, not effect: trials with and without calls may be of easier and harder questions.",
    "What a call changes in the answer is shown only by putting another result in its place.",
    "A result counts as right where the tool itself gave it and the call was not beside the question.",
    "Whether another call was needed instead is not looked at.",
    "Use is a lower bound: a value that only the result brought is in the reply or in a later call in use.",
    "An option that is picked by comparing results uses them unseen.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """A trial with what its calls brought, and which of them its answer used."""

    row: Row
    calls: tuple[CallValues, ...]
    reply: str
    known: Known
    used: frozenset[int]

    @property
    def is_right(self) -> bool:
        return (self.row.score or 0.0) >= RIGHT

    @property
    def has_right_result(self) -> bool:
        return any(call.is_right for call in self.calls)

    @property
    def uses_right_result(self) -> bool:
        return any(self.calls[place].is_right for place in self.used)


def count_paths(job: StoredJob) -> dict[str, Any]:
    """By model and arm with tools: the tree of counts, shares with intervals, and the same by tool.

    Raises:
        SpecError: fewer than 20 trials of arms with tools have a score and a trace.
    """
    with_tools = {arm.name for arm in job.spec.arms if arm.tools} | {
        row.arm for row in job.rows if row.tool_calls
    }
    rows = [row for row in job.rows if row.arm in with_tools]
    scored = sorted((row for row in rows if row.score is not None), key=lambda row: stable_seed(row.trial_id))
    followed = [trial for row in scored[: job.limit] if (trial := _follow(job, row)) is not None]
    need("trials with tools, a score and a trace", len(followed), MIN_TRIALS)
    groups: dict[tuple[str, str], list[Followed]] = defaultdict(list)
    for trial in followed:
        groups[trial.row.model, trial.row.arm].append(trial)
    baselines = {(pair.model, pair.variant): pair.baseline for pair in reversed(job.compared_or_none)}
    return {
        "read": len(followed),
        "without_score": len(rows) - len(scored),
        "without_trace": len(scored[: job.limit]) - len(followed),
        "not_read": len(scored) - len(scored[: job.limit]),
        "arms": [_arm(job, group, trials, baselines.get(group)) for group, trials in sorted(groups.items())],
        "limits": list(LIMITS),
    }


def _follow(job: StoredJob, row: Row) -> Followed | None:
    trace = job.trace(row.trial_id)
    if trace is None or not trace.get("steps"):
        return None
    things, about, chosen = _question(job, row)
    is_live = all(arm.results == "live" for arm in job.spec.arms if arm.name == row.arm)
    calls = tuple(
        call_values(call, is_live=is_live, things=things, about=about)
        for turn in read_turns(trace)
        for call in turn.calls
    )
    reply = f"{trace.get('response') or row.answer or ''}\n{chosen}"
    known = known_in(prompt_texts(trace))
    return Followed(row=row, calls=calls, reply=reply, known=known, used=used_calls(calls, reply, known))


def _question(job: StoredJob, row: Row) -> tuple[frozenset[str], frozenset[str], str]:
    """The things of the scene, the names in the question, and the text of the options chosen."""
    sample = job.sample(row.sample_id)
    if sample is None:
        return frozenset(), frozenset(), ""
    view = view_of(job.benchmark, sample)
    spans = (*view.seen.spans, *view.truth.spans)
    texts = [view.question, view.truth_text, *(option.text for option in view.options)]
    about = frozenset(WORD.findall(" ".join([*texts, *(span.label for span in spans)])))
    letters = {letter.strip() for letter in (row.answer or "").split(",")}
    chosen = "\n".join(option.text for option in view.options if option.letter in letters)
    return frozenset(sample.scene.cameras if sample.scene else ()), about, chosen


def _arm(
    job: StoredJob, group: tuple[str, str], trials: Sequence[Followed], baseline: str | None
) -> dict[str, Any]:
    beside = _right_under(job, group[0], baseline)
    called = [trial for trial in trials if trial.calls]
    resulted = [trial for trial in called if trial.has_right_result]
    used = [trial for trial in resulted if trial.uses_right_result]
    parts = {
        "all": (trials, trials),
        "not_called": ([trial for trial in trials if not trial.calls], trials),
        "called": (called, trials),
        "no_right_result": ([trial for trial in called if not trial.has_right_result], called),
        "right_result": (resulted, called),
        "not_used": ([trial for trial in resulted if not trial.uses_right_result], resulted),
        "used": (used, resulted),
    }
    return {
        "model": group[0],
        "arm": group[1],
        "baseline": baseline,
        "nodes": {name: _node(part, of, beside) for name, (part, of) in parts.items()},
        "used_by_chance": _by_chance(resulted),
        "tools": list(_tools(trials)),
    }


def _right_under(job: StoredJob, model: str, arm: str | None) -> Mapping[str, float]:
    """By sample: the share of right trials of the model under the baseline."""
    right: dict[str, list[float]] = defaultdict(list)
    for row in job.rows:
        if row.model == model and row.arm == arm and row.score is not None:
            right[row.sample_id].append(float(row.score >= RIGHT))
    return {sample: float(np.mean(values)) for sample, values in right.items()}


def _node(part: Sequence[Followed], of: Sequence[Followed], beside: Mapping[str, float]) -> dict[str, Any]:
    """How many of the parent's trials are here, how many of these are right, and the baseline on them."""
    here = {id(trial) for trial in part}
    own = [beside[trial.row.sample_id] for trial in part if trial.row.sample_id in beside]
    return {
        "n": len(part),
        "of": len(of),
        "share": _share(of, [id(trial) in here for trial in of]),
        "samples": len({trial.row.sample_id for trial in part}),
        "right": sum(trial.is_right for trial in part),
        "right_share": _share(part, [trial.is_right for trial in part]),
        "baseline_n": len(own),
        "baseline_right_share": float(np.mean(own)) if own else None,
    }


def _share(trials: Sequence[Followed], holds: Sequence[bool]) -> dict[str, Any] | None:
    """The share of trials with its interval by cluster; None of no trials."""
    if not trials:
        return None
    grouping = plain_design([trial.row.cluster or f"sample {trial.row.sample_id}" for trial in trials])
    estimate = mean_score(np.array(holds, dtype=np.float64), grouping)
    return {"value": estimate.mean, "ci95": interval(estimate.ci95)}


def _by_chance(trials: Sequence[Followed]) -> dict[str, int]:
    """How often a reply would use the calls of another trial, of the same task and another sample."""
    by_task: dict[str, list[Followed]] = defaultdict(list)
    for trial in trials:
        by_task[trial.row.task].append(trial)
    tried = matched = 0
    for group in by_task.values():
        for at, trial in enumerate(group):
            others = (group[(at + step) % len(group)] for step in range(1, len(group)))
            other = next((o for o in others if o.row.sample_id != trial.row.sample_id), None)
            if other is not None:
                places = used_calls(other.calls, trial.reply, trial.known)
                tried += 1
                matched += any(other.calls[place].is_right for place in places)
    return {"n": tried, "used": matched}


def _tools(trials: Sequence[Followed]) -> Iterator[dict[str, Any]]:
    """The path by tool: trials that called it, got a right result of it, used one, and were right."""
    for name in sorted({call.name for trial in trials for call in trial.calls}):
        called = [trial for trial in trials if any(call.name == name for call in trial.calls)]
        right = [t for t in called if any(call.is_right for call in t.calls if call.name == name)]
        used = [t for t in right if any(t.calls[at].name == name and t.calls[at].is_right for at in t.used)]
        yield {
            "tool": name,
            "called": len(called),
            "right_result": len(right),
            "used": len(used),
            "right_of_called": _share(called, [trial.is_right for trial in called]),
            "right_of_used": _share(used, [trial.is_right for trial in used]),
        }


NAMES = (
    ("not_called", "  called nothing"),
    ("called", "  called a tool"),
    ("no_right_result", "    got no right result"),
    ("right_result", "    got a right result"),
    ("not_used", "      is not seen to use it"),
    ("used", "      used it"),
)


def lines(result: dict[str, Any]) -> Iterator[str]:
    """A tree for each arm, a table of its tools, and what it does not show."""
    left = [
        f"{result[key]:,} {words}"
        for key, words in (
            ("without_score", "without a score"),
            ("without_trace", "without a trace"),
            ("not_read", "not drawn"),
        )
        if result[key]
    ]
    left_out = f"; left out: {', '.join(left)}" if left else ""
    yield f"{count(result['read'], 'trial')} read{left_out}."
    for arm in result["arms"]:
        every = arm["nodes"]["all"]
        yield f"{arm['model']} / {arm['arm']}: {count(every['n'], 'trial')}, {_right_text(every, arm)}"
        for key, name in NAMES:
            node = arm["nodes"][key]
            if node["of"]:
                size = f"{node['n']:,} of {node['of']:,}, {_text(node['share'])}"
                yield f"{name}: {size}" + (f"; {_right_text(node, arm)}" if node["n"] else "")
        chance = arm["used_by_chance"]
        if chance["n"]:
            yield f"  used by chance: {chance['used']:,} of {chance['n']:,} with results of another trial"
        yield f"  {'tool':<24} {'called':>7} {'right':>7} {'used':>7}  right answers of called; of used"
        for tool in arm["tools"]:
            yield (
                f"  {tool['tool']:<24} {tool['called']:>7,} {tool['right_result']:>7,} {tool['used']:>7,}"
                f"  {_text(tool['right_of_called'])}; {_text(tool['right_of_used'])}"
            )
    yield from (f"Note: {limit}" for limit in result["limits"])


def _right_text(node: dict[str, Any], arm: dict[str, Any]) -> str:
    beside = ""
    if node["baseline_right_share"] is not None:
        beside = f" (the same questions under {arm['baseline']}: {percent(node['baseline_right_share'])} %)"
    return f"{node['right']:,} right, {_text(node['right_share'])}{beside}"


def _text(share: dict[str, Any] | None) -> str:
    if share is None:
        return "–"
    ends = share["ci95"]
    reach = f" [{percent(ends[0])}, {percent(ends[1])}]" if ends else ""
    return f"{percent(share['value'])} %{reach}"


call_path = ComputedFromJob(
    name="call_path",
    description="The path from a call to the answer: called, got a right result, used it, answered right.",
    count=count_paths,
    lines=lines,
)
