"""Compares two jobs over the same samples, as a report of its own."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from typing_extensions import TypedDict

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.exchange.imported_job import arms_from_elsewhere, asked_and_scored, is_imported
from gnomon.report.build import build_report
from gnomon.report.contrast import ContrastReport, looked_at
from gnomon.report.report import Report
from gnomon.report.score_matrix import Group
from gnomon.report.sections.published import NOT_KNOWN
from gnomon.report.text_formats import count, points
from gnomon.report.verdict import sentence
from gnomon.spec.job_spec import JobSpec
from gnomon_analyses.comparing.changed_trials import Changes, SampleChanges, changed_trials, sample_changes
from gnomon_analyses.sections.methods import methods_in

LONGEST_NAME = 60
NOT_COMPARED = ("name", "concurrency", "queue", "priority")


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffedJob:
    """A job as a difference needs it; `rows` are read once."""

    job_id: str
    spec: JobSpec
    status: str
    rows: Iterable[Row]


class FieldChange(TypedDict):
    """A field of the spec that the jobs do not share; `first` and `second` are JSON, null where absent."""

    field: str
    first: Any
    second: Any


class SharedSamples(TypedDict):
    """How many samples both jobs answered or lost, and how many only one of them has."""

    both: int
    only_first: int
    only_second: int


class Difference(TypedDict):
    """What differs between two jobs, and what that has changed: `report` has the jobs as its two arms."""

    jobs: list[str]
    sides: list[str]  # what the report calls them: their names where these tell them apart, else their ids
    spec_changes: list[FieldChange]
    samples: SharedSamples
    changes: Changes
    report: Report


def diff_jobs(first: DiffedJob, second: DiffedJob) -> Difference:
    """Compare two jobs, sample by sample: each model and arm of the first with the same of the second.

    Only samples that both have are compared. Where no model and arm is common, jobs of one model are compared
    arm by arm, and jobs of one model and one arm with each other.

    Raises:
        SpecError: the jobs are of different benchmarks, or share no sample, or nothing in them can be paired.
    """
    if first.spec.benchmark != second.spec.benchmark:
        names = f"{first.spec.benchmark!r} and {second.spec.benchmark!r}"
        raise SpecError(f"the jobs are of different benchmarks: {names}", field="JOB")
    paired = paired_groups(first.spec, second.spec)
    sides = side_names((first.spec.name, second.spec.name), (first.job_id, second.job_id))
    rows = [
        list(_relabelled(job, side, {pair[at]: label for label, pair in paired.items()}))
        for at, (job, side) in enumerate(zip((first, second), sides, strict=True))
    ]
    ids = [{row.sample_id for row in of_job} for of_job in rows]
    shared = ids[0] & ids[1]
    if not shared:
        raise SpecError("the jobs have no sample in common", field="JOB")
    before, after = ([row for row in of_job if row.sample_id in shared] for of_job in rows)
    after = list(_without_costs_of(before, after))
    spec = _spec(first, second, paired, sides)
    status = "completed" if first.status == second.status == "completed" else "of jobs that did not complete"
    report = build_report(
        job_id=f"{first.job_id}, {second.job_id}",
        spec=spec,
        status=status,
        rows=[*before, *after],
        planned=len(before) + len(after),
    )
    _reword_for_jobs(report, first, second, list(paired.values()), sample_changes(before, after))
    changes = spec_changes(first.spec, second.spec)
    report["integrity"]["arm_differences"] = [
        {
            "baseline": sides[0],
            "variant": sides[1],
            "fields": [change["field"] for change in changes],
            "besides_tools": [],
        }
    ]
    return {
        "jobs": [first.job_id, second.job_id],
        "sides": list(sides),
        "spec_changes": changes,
        "samples": {
            "both": len(shared),
            "only_first": len(ids[0] - shared),
            "only_second": len(ids[1] - shared),
        },
        "changes": changed_trials(before, after),
        "report": report,
    }


def side_names(names: tuple[str, str], ids: tuple[str, str]) -> tuple[str, str]:
    """What two jobs are called: by their names where these tell them apart, else by their ids."""
    if all(names) and names[0] != names[1] and max(map(len, names)) <= LONGEST_NAME:
        return names
    return ids if ids[0] != ids[1] else (f"{ids[0]} (first)", f"{ids[1]} (second)")


def _reword_for_jobs(
    report: Report,
    first: DiffedJob,
    second: DiffedJob,
    pairs: Sequence[tuple[Group, Group]],
    samples: SampleChanges,
) -> None:
    """Put what the report says of models and arms into words for two jobs, and what is equal as equal."""
    job, specs = report["job"], (first.spec, second.spec)
    seeds = list(dict.fromkeys(spec.select.seed for spec in specs))
    report["integrity"]["seeds"]["select"] = seeds[0] if len(seeds) == 1 else " → ".join(map(str, seeds))
    job["jobs"] = [first.job_id, second.job_id]
    job["models"] = list(dict.fromkeys(group[0] for pair in pairs for group in pair))
    for at, stored in enumerate((first, second)):
        arms = ", ".join(dict.fromkeys(pair[at][1] for pair in pairs))
        scoring = asked_and_scored(stored.spec)[1]
        text = f"job {stored.job_id}, {stored.status}: {arms}; {scoring} scoring"
        job["arm_texts"][job["arms"][at]] = text
    report["protocol"], report["scoring"] = (
        " → ".join(dict.fromkeys(values)) for values in zip(*map(asked_and_scored, specs), strict=True)
    )
    job["imported"] = all(map(is_imported, specs))
    report["integrity"] |= {"protocol": report["protocol"], "scoring": report["scoring"]}
    if not job["imported"]:
        report["published_notes"] = [note for note in report["published_notes"] if note != NOT_KNOWN]
    for contrast in report["contrasts"]:
        key = contrast["model"], contrast["scope"]
        changed, compared = samples.changed[key], samples.compared[key]
        reword_for_jobs(contrast, changed=changed, compared=compared)
    report["integrity"]["comparisons"] = len(looked_at(report))
    primary = [contrast for contrast in report["contrasts"] if contrast["family"] == "primary"]
    report["summary"] = [contrast["verdict_text"] for contrast in primary]
    report["answers"] = [f"{job['benchmark']}: {text}" for text in report["summary"]]
    methods = methods_in(report)
    methods["paragraph"], methods["table"] = "", []  # of one job, not of two


def reword_for_jobs(contrast: ContrastReport, *, changed: int, compared: int) -> None:
    """Put a comparison of two arms into words for two jobs; where no score changed, both are equal."""
    if compared and not changed:
        _set_equal(contrast)
    contrast["verdict_text"] = _says(contrast, changed=changed)


def _set_equal(contrast: ContrastReport) -> None:
    """No chance is in a difference of equal scores: it is 0 on these samples, without an interval's doubt."""
    contrast["diff"] = contrast["se"] = 0.0
    contrast["ci95"] = contrast["ci95_adjusted"] = contrast["ci90"] = None
    contrast["p"] = contrast["p_adjusted"] = contrast["mde"] = None
    contrast["mde_note"] = ""
    contrast["test"] = contrast["interval_method"] = "none: all scores are equal"
    contrast["equivalence_p"] = contrast["equivalence_p_adjusted"] = None
    contrast["below_margin"] = False
    bounds, margin = contrast["bounds"] or [0.0, 0.0], contrast["margin"] or [0.0, 0.0]
    unknown = contrast["unknown_ci95"] or [0.0, 0.0]
    if contrast["next_step"]:
        contrast["verdict"], contrast["reasons"] = "undecided", contrast["reasons"][:1]
        return
    bounds = [min(bounds[0], unknown[0]), max(bounds[1], unknown[1])]
    if (bounds == [0.0, 0.0] or margin[0] < bounds[0] <= bounds[1] < margin[1]) and not contrast["withheld"]:
        contrast["verdict"], contrast["reasons"] = "no_effect", []
    else:
        contrast["verdict"] = "undecided"
        reach = f"{points(bounds[0])} to {points(bounds[1])} points"
        what = "missing trials or unknown replies" if contrast["unknown_ci95"] else "missing trials"
        contrast["reasons"] = [f"{what} could make it {reach}"]


def _says(contrast: ContrastReport, *, changed: int) -> str:
    n, who = contrast["n"], contrast["model"]
    if contrast["diff"] is None:
        return f"{who}: no sample has a score in both jobs."
    if changed:
        return f"{changed:,} of {count(n, 'score')} changed. {sentence(contrast, place='in')}"
    why = f", but {contrast['reasons'][0]}" if contrast["reasons"] else ""
    equal = f"{who}: {n:,} of {count(n, 'score')} are equal in both jobs, a difference of exactly 0{why}."
    return f"{equal} {contrast['next_step']}".strip()


def paired_groups(first: JobSpec, second: JobSpec) -> dict[str, tuple[Group, Group]]:
    """What is compared with what, by the label it gets in the report.

    Raises:
        SpecError: nothing in the jobs can be paired.
    """
    before, after = (
        [(model.label, arm.name) for model in spec.models for arm in spec.arms] for spec in (first, second)
    )
    same = [group for group in before if group in after]
    if same:
        return {f"{model} / {arm}": ((model, arm), (model, arm)) for model, arm in same}
    if len(first.models) == len(second.models) == 1:
        arms = {arm: (model, arm) for model, arm in after}
        by_arm = {arm: ((model, arm), arms[arm]) for model, arm in before if arm in arms}
        if by_arm:
            return by_arm
        if len(before) == len(after) == 1:
            return {f"{' / '.join(before[0])} → {' / '.join(after[0])}": (before[0], after[0])}
    names = " and ".join(", ".join(f"{model} / {arm}" for model, arm in group) for group in (before, after))
    raise SpecError(f"the jobs share no model and arm: {names}", field="JOB")


def _relabelled(job: DiffedJob, side: str, labels: Mapping[tuple[str, str], str]) -> Iterator[Row]:
    for row in job.rows:
        label = labels.get((row.model, row.arm))
        if label is not None:
            yield replace(row, model=label, arm=side)


def _without_costs_of(before: Sequence[Row], after: Sequence[Row]) -> Iterator[Row]:
    """The rows of the second job; those that are trials of the first, scored again, called no model."""
    called = {_call_of(row) for row in before if row.model_calls and row.wall_s}
    for row in after:
        if _call_of(row) not in called:
            yield row
            continue
        yield replace(
            row,
            model_calls=0,
            cache_hits=0,
            prompt_tokens=0,
            completion_tokens=0,
            cached_tokens=0,
            reasoning_tokens=0,
            usd=0.0,
            wall_s=0.0,
        )


def _call_of(row: Row) -> tuple[object, ...]:
    """What distinguishes a trial from all others, in whichever job: no two take the same microseconds."""
    spent = row.prompt_tokens, row.completion_tokens, row.usd, row.wall_s, row.model_calls
    return row.sample_id, row.model, row.repeat, *spent


def _spec(
    first: DiffedJob, second: DiffedJob, paired: Mapping[str, tuple[Group, Group]], sides: tuple[str, str]
) -> JobSpec:
    repeats = [
        max(job.spec.repeats_of(groups[at][1]) for groups in paired.values())
        for at, job in enumerate((first, second))
    ]
    return JobSpec.model_validate(
        {
            **first.spec.model_dump(mode="json", include={"benchmark", "protocol", "scoring", "variant"}),
            "name": f"{sides[1]} against {sides[0]}"[:200],
            "models": [{"id": label} for label in paired],
            "arms": arms_from_elsewhere(dict(zip(sides, repeats, strict=True))),
            "repeats": max(repeats),
            "analysis": {
                "cluster": first.spec.analysis.cluster,
                "margin": first.spec.analysis.margin,
                "primary": list(sides),
            },
        }
    )


def spec_changes(first: JobSpec, second: JobSpec) -> list[FieldChange]:
    """Every field in which two specs differ, but for their name and how they were run."""
    before, after = (
        dict(_leaves(spec.model_dump(mode="json", exclude=set(NOT_COMPARED)))) for spec in (first, second)
    )
    return [
        {"field": field, "first": before.get(field), "second": after.get(field)}
        for field in dict.fromkeys([*before, *after])
        if before.get(field) != after.get(field)
    ]


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Fields by their path; members of a list by their name, as those of `arms` are, else their number.

    >>> dict(_leaves({"arms": [{"name": "raw", "max_turns": 2}], "looks": [{"share": 0.5}, {"share": 1}]}))
    {'arms.raw.name': 'raw', 'arms.raw.max_turns': 2, 'looks.1.share': 0.5, 'looks.2.share': 1}
    """
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _leaves(item, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for number, item in enumerate(value, start=1):
            yield from _leaves(item, f"{path}.{item.get('name') or item.get('id') or number}")
    else:
        yield path, value
