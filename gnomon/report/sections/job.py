"""Says what was run, under which arms, and what everything is counted out of."""

from collections.abc import Iterator, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from gnomon.core.agent import runs_tools
from gnomon.core.arm import Arm
from gnomon.core.benchmark import (
    SpellsOutTasks,
)
from gnomon.core.model import built_in_text
from gnomon.core.sample import SHOWABLE
from gnomon.core.score import Outcome
from gnomon.core.tool_inputs import provided_inputs
from gnomon.exchange.imported_job import AGENT, asked_and_scored, is_imported
from gnomon.report.group_totals import GroupTotals
from gnomon.report.section import ReportInput, Section
from gnomon.report.text_formats import count

SHOWN = {"media": "pictures and clips", "map": "the map", "camera_data": "camera data"}
ADDED = {"facts": "in words what tools could look up", "oracle": "the true intermediate steps"}
RESULTS = {
    "live": "",
    "neutral": ", whose results say nothing",
    "other_scene": ", whose results are about another scene",
}
LISTED = 4


class JobInfo(TypedDict):
    """What was run."""

    id: str
    jobs: list[str]  # ids of the two jobs whose difference this is; else empty
    name: str
    status: str
    imported: NotRequired[bool]  # whether it was run elsewhere; absent from reports of older versions
    error: str  # why it failed; empty otherwise
    benchmark: str
    benchmark_version: str
    headline: str
    models: list[str]
    arms: list[str]
    arm_texts: dict[str, str]
    model_texts: dict[str, str]  # what the built-in models among them are
    task_names: dict[str, str]  # the full names of the codes in the names of cells
    repeats: int
    repeats_by_arm: NotRequired[dict[str, list[int]]]  # the fewest and the most of a sample, where others
    primary: list[list[str]]
    margin: float
    cluster: str


class TrialCounts(TypedDict):
    """How trials ended; `pending` have not ended yet or will never run; a job that was decided early did
    without those `not_run`.
    """

    planned: int
    finished: int
    scored: int
    model_failed: int
    infra_missing: int
    pending: int
    not_run: NotRequired[int]


class Denominators(TypedDict):
    """What every figure is counted out of."""

    trials: TrialCounts
    samples: int
    clusters: int
    crossing_clusters: NotRequired[int]  # by a second factor, where one makes samples kin
    cells: int
    repeats: int


class JobPart(TypedDict):
    """The head of the report."""

    job: JobInfo
    protocol: str
    scoring: str
    denominators: Denominators


def _job(report_input: ReportInput) -> JobPart:
    spec, benchmark, scores = report_input.spec, report_input.benchmark, report_input.scores
    protocol, scoring = asked_and_scored(spec)
    primary = dict.fromkeys((pair.baseline, pair.variant) for pair in report_input.pairs if pair.is_primary)
    part: JobPart = {
        "job": {
            "id": report_input.job_id,
            "jobs": [],
            "name": spec.name,
            "status": report_input.status,
            "imported": is_imported(spec),
            "error": report_input.error,
            "benchmark": spec.benchmark,
            "benchmark_version": benchmark.version,
            "headline": benchmark.headline,
            "models": report_input.models,
            "arms": [arm.name for arm in spec.arms],
            "arm_texts": _arm_texts(report_input),
            "model_texts": {model.label: text for model in spec.models if (text := built_in_text(model.id))},
            "task_names": _task_names(report_input),
            "repeats": spec.repeats,
            "primary": [list(pair) for pair in primary],
            "margin": spec.analysis.nominal_margin,
            "cluster": spec.analysis.cluster,
        },
        "protocol": protocol,
        "scoring": scoring,
        "denominators": {
            "trials": trial_counts(scores.totals, report_input.planned, stopped=report_input.has_stopped),
            "samples": len(scores.samples),
            "clusters": len(set(scores.clusters.tolist())),
            "cells": len(scores.cell_names),
            "repeats": spec.repeats,
        },
    }
    if scores.crossing is not None:
        part["denominators"]["crossing_clusters"] = len(set(scores.crossing.tolist()))
    if other := _other_repeats(report_input):
        part["job"]["repeats_by_arm"] = other
    return part


def _other_repeats(report_input: ReportInput) -> dict[str, list[int]]:
    """By arm the fewest and the most repeats of a sample, as planned or, of a run from elsewhere, as its rows
    have them; empty where these are the job's everywhere.
    """
    spec, scores = report_input.spec, report_input.scores
    by_arm = {arm: [times, times] for arm, times in spec.repeats_by_arm.items()}
    if is_imported(spec):
        ended = scores.answered + scores.missing
        for arm in by_arm:
            times = ended[[scores.at[model.label, arm] for model in spec.models]]
            if times.any():
                by_arm[arm] = [int(times[times > 0].min()), int(times.max())]
    return by_arm if any(times != [spec.repeats] * 2 for times in by_arm.values()) else {}


def repeats_text(job: JobInfo) -> str:
    """How often a sample was asked under each arm: `5 repeats`, or `repeats: raw 5, tools 1 to 2`."""
    by_arm = job.get("repeats_by_arm")
    if not by_arm:
        return count(job["repeats"], "repeat")
    ranges = {
        arm: f"{few:,}" if few == most else f"{few:,} to {most:,}" for arm, (few, most) in by_arm.items()
    }
    return f"repeats: {', '.join(f'{arm} {times}' for arm, times in ranges.items())}"


def place_of(arm: str, arms: Sequence[str]) -> int | None:
    """The place of an arm among the job's, from 0, which decides its look; None where it is none of them."""
    return arms.index(arm) if arm in arms else None


def trial_counts(groups: Sequence[GroupTotals], planned: int, *, stopped: bool = False) -> TrialCounts:
    """How the trials of these groups ended, out of those planned; `stopped`: their job was decided early."""
    ended = {outcome: sum(totals.outcomes[outcome] for totals in groups) for outcome in Outcome}
    finished = sum(ended.values())
    counts: TrialCounts = {
        "planned": planned,
        "finished": finished,
        "scored": ended[Outcome.SCORED],
        "model_failed": ended[Outcome.MODEL_FAILED],
        "infra_missing": ended[Outcome.INFRA_MISSING],
        "pending": 0 if stopped else max(planned - finished, 0),
    }
    if stopped:
        counts["not_run"] = max(planned - finished, 0)
    return counts


def _task_names(report_input: ReportInput) -> dict[str, str]:
    """Of the benchmark's codes those that name a cell of this job, or a part of it."""
    if not isinstance(report_input.benchmark, SpellsOutTasks):
        return {}
    codes = {code for cell in report_input.scores.cell_names for code in cell.split(".")}
    names = report_input.benchmark.task_names
    return {code: name for code, name in names.items() if code in codes}


def _arm_texts(report_input: ReportInput) -> dict[str, str]:
    """Each arm in words, with how many of its tools its trials were offered."""
    scores, texts = report_input.scores, {}
    for arm in report_input.spec.arms:
        ranges = [
            totals.tools_offered
            for (_, name), totals in zip(scores.groups, scores.totals, strict=True)
            if name == arm.name and totals.tools_offered
        ]
        offered = (min(least for least, _ in ranges), max(most for _, most in ranges)) if ranges else None
        texts[arm.name] = arm_text(
            arm, fitting=provided_inputs(report_input.benchmark, arm.tools), offered=offered
        )
    return texts


def arm_text(
    arm: Arm, *, fitting: Sequence[str] | None = None, offered: tuple[int, int] | None = None
) -> str:
    """What an arm is: who answers, with which tools, and what it does not see. `fitting`: those of its tools
    that the benchmark's samples can serve; `offered`: the least and the most that a trial was offered.

    >>> arm_text(Arm(name="raw", agent="direct"))
    'answers in one go, without tools'
    >>> arm_text(Arm(name="t", agent="react", tools=("bearing", "speed"), show=("map",)))
    'may call 2 tools (bearing, speed), at most 12 times; does not see pictures and clips, camera data'
    """
    if arm.agent == AGENT:
        return "was run elsewhere"
    if not arm.tools:
        text = (
            "answers in one go, without tools"
            if arm.agent == "direct"
            else f"answers {'with its own loop' if arm.outside else 'without tools'} ({arm.agent_label})"
        )
    else:
        tools, names = len(arm.tools), sorted(arm.tools if fitting is None else fitting)
        listed = ", ".join(names) if len(names) <= LISTED else f"{', '.join(names[:LISTED])}, …"
        most = offered or (len(names), len(names))
        many = f"{_of(tools, most)} tool{'s' if tools > 1 else ''} ({listed or 'none fits'})"
        many += "" if most == (tools, tools) else ", those that fit the question"
        text = _with_tools(arm, many)
    hidden = [SHOWN.get(kind, kind) for kind in SHOWABLE if kind not in arm.show]
    added = [ADDED.get(kind, kind) for kind in arm.show if kind not in SHOWABLE]
    text += f"; also reads {', '.join(added)}" if added else ""
    return f"{text}; does not see {', '.join(hidden)}" if hidden else text


def _of(tools: int, offered: tuple[int, int]) -> str:
    """How many tools, and how many of them were offered.

    >>> _of(37, (37, 37)), _of(37, (22, 22)), _of(37, (19, 22))
    ('37', '22 of 37', '19 to 22 of 37')
    """
    if offered == (tools, tools):
        return str(tools)
    least, most = offered
    return f"{most} of {tools}" if least == most else f"{least} to {most} of {tools}"


def _with_tools(arm: Arm, many: str) -> str:
    if not runs_tools(arm) or arm.tool_choice == "none":
        return f"sees {many} but may not call them"
    must = "must" if arm.tool_choice == "required" else "may"
    agent = "" if arm.agent == "react" else f" ({arm.agent_label})"
    neutral = RESULTS[arm.results]
    faulty = f", of whose calls some fail on purpose ({arm.faults.kind})" if arm.faults else ""
    return f"{must} call {many}, at most {arm.max_tool_calls} times{neutral}{faulty}{agent}"


def how_asked(report: JobPart) -> str:
    """By which prompt and scoring, as far as that is known here."""
    if report["job"].get("imported"):
        return "imported, prompt and scoring unknown"
    return f"{report['protocol']} prompt · {report['scoring']} scoring"


def _built_in(report: JobPart) -> Iterator[str]:
    """What the built-in models of the job are; reports of older versions do not say."""
    for model, text in report["job"].get("model_texts", {}).items():
        yield f"{model} is {text}."


def _terminal(report: JobPart) -> Iterator[str]:
    yield from _built_in(report)
    yield f"{report['job']['name'] or report['job']['benchmark']} ({report['job']['status']})"
    yield ""


job = Section(
    name="job",
    title="Gnomon report",
    question="What was run?",
    fields=JobPart,
    compute=_job,
    place=10,
    view=lambda report: {"asked": how_asked(report)},
    terminal=_terminal,
)
