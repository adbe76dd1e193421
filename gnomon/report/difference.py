"""The difference of two jobs over the same samples, as a report of its own."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from typing_extensions import TypedDict

from gnomon.errors import SpecError
from gnomon.report.build import build_report
from gnomon.report.schema import Report
from gnomon.row import Row
from gnomon.spec import JobSpec

SIDES = ("first", "second")
NOT_COMPARED = ("name", "concurrency", "queue", "priority")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredJob:
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
    spec_changes: list[FieldChange]
    samples: SharedSamples
    report: Report


def build_difference(first: StoredJob, second: StoredJob) -> Difference:
    """Compare two jobs, sample by sample: each model and arm of the first with the same of the second.

    Only samples that both have are compared. Where no model and arm is common, jobs of one model are compared
    arm by arm, and jobs of one model and one arm with each other.

    Raises:
        SpecError: the jobs are of different benchmarks, or share no sample, or nothing in them can be paired.
    """
    if first.spec.benchmark != second.spec.benchmark:
        names = f"{first.spec.benchmark!r} and {second.spec.benchmark!r}"
        raise SpecError(f"the jobs are of different benchmarks: {names}", field="JOB")
    paired = _paired(first.spec, second.spec)
    rows = [
        list(_relabelled(job, side, {pair[at]: label for label, pair in paired.items()}))
        for at, (job, side) in enumerate(zip((first, second), SIDES, strict=True))
    ]
    ids = [{row.sample_id for row in mine} for mine in rows]
    shared = ids[0] & ids[1]
    if not shared:
        raise SpecError("the jobs have no sample in common", field="JOB")
    kept = [row for mine in rows for row in mine if row.sample_id in shared]
    spec = _spec(first, second, list(paired))
    status = "completed" if first.status == second.status == "completed" else "of jobs that did not complete"
    planned = len(shared) * 2 * len(paired) * spec.repeats
    report = build_report(
        job_id=f"{first.job_id}, {second.job_id}", spec=spec, status=status, rows=kept, planned=planned
    )
    changes = spec_changes(first.spec, second.spec)
    report["integrity"]["arm_differences"] = [
        {
            "baseline": SIDES[0],
            "variant": SIDES[1],
            "fields": [change["field"] for change in changes],
            "besides_tools": [],
        }
    ]
    return {
        "jobs": [first.job_id, second.job_id],
        "spec_changes": changes,
        "samples": {
            "both": len(shared),
            "only_first": len(ids[0] - shared),
            "only_second": len(ids[1] - shared),
        },
        "report": report,
    }


def _paired(first: JobSpec, second: JobSpec) -> dict[str, tuple[tuple[str, str], tuple[str, str]]]:
    """What is compared with what, by the label it gets in the report."""
    one, other = (
        [(model.label, arm.name) for model in spec.models for arm in spec.arms] for spec in (first, second)
    )
    same = [group for group in one if group in other]
    if same:
        return {f"{model} / {arm}": ((model, arm), (model, arm)) for model, arm in same}
    if len(first.models) == len(second.models) == 1:
        arms = {arm: (model, arm) for model, arm in other}
        by_arm = {arm: ((model, arm), arms[arm]) for model, arm in one if arm in arms}
        if by_arm:
            return by_arm
        if len(one) == len(other) == 1:
            return {f"{' / '.join(one[0])} → {' / '.join(other[0])}": (one[0], other[0])}
    names = " and ".join(", ".join(f"{model} / {arm}" for model, arm in group) for group in (one, other))
    raise SpecError(f"the jobs share no model and arm: {names}", field="JOB")


def _relabelled(job: StoredJob, side: str, labels: Mapping[tuple[str, str], str]) -> Iterator[Row]:
    for row in job.rows:
        label = labels.get((row.model, row.arm))
        if label is not None:
            yield replace(row, model=label, arm=side)


def _spec(first: StoredJob, second: StoredJob, labels: list[str]) -> JobSpec:
    agent = first.spec.arms[0].agent
    return JobSpec.model_validate(
        {
            **first.spec.model_dump(mode="json", include={"benchmark", "protocol", "scoring", "variant"}),
            "name": f"{second.spec.name or second.job_id} against {first.spec.name or first.job_id}"[:200],
            "models": [{"id": label} for label in labels],
            "arms": [{"name": side, "agent": agent} for side in SIDES],
            "repeats": max(first.spec.repeats, second.spec.repeats),
            "analysis": {
                "cluster": first.spec.analysis.cluster,
                "margin": first.spec.analysis.margin,
                "primary": list(SIDES),
            },
        }
    )


def spec_changes(first: JobSpec, second: JobSpec) -> list[FieldChange]:
    """Every field in which two specs differ, but for their name and how they were run."""
    one, other = (
        dict(_leaves(spec.model_dump(mode="json", exclude=set(NOT_COMPARED)))) for spec in (first, second)
    )
    return [
        {"field": field, "first": one.get(field), "second": other.get(field)}
        for field in dict.fromkeys([*one, *other])
        if one.get(field) != other.get(field)
    ]


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Fields by their path; members of `models` and `arms` by their name, not their number."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from _leaves(item, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for item in value:
            yield from _leaves(item, f"{path}.{item.get('name') or item.get('id')}")
    else:
        yield path, value
