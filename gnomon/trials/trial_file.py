"""A trial as a file: spec, sample, arm and model, and the steps that are given from a record.

`gnomon try FILE` runs it. Without recorded steps the trial is tried again; with them it continues from one of
its steps, whose result may be another than it was.
"""

import json
from collections.abc import Mapping
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError

from gnomon.core.errors import Conflict, SpecError
from gnomon.core.validation import StrictModel
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.recorded_steps import RecordedSteps, recorded_until
from gnomon.trials.trial_plan import Trial

FIELDS = ("spec", "sample", "arm", "model", "repeat", "recorded")


class TrialFile(StrictModel):
    """One trial of a spec, which is checked as a job's is, later. `model`: a label, by default the first."""

    spec: dict[str, Any]
    sample: str
    arm: str
    model: str | None = None
    repeat: int = Field(default=0, ge=0, lt=1000)
    recorded: RecordedSteps | None = None


def is_trial_file(fields: object) -> bool:
    """Whether a file's content is a trial rather than a job spec.

    >>> is_trial_file({"spec": {}, "sample": "1", "arm": "raw"}), is_trial_file({"benchmark": "worlds"})
    (True, False)
    """
    return isinstance(fields, dict) and "spec" in fields and "benchmark" not in fields


def read_trial_file(fields: object) -> TrialFile:
    """A file's content as a trial.

    Raises:
        SpecError: a field is absent, unknown or invalid; names it and what is allowed.
    """
    try:
        return TrialFile.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise SpecError(f"{first['msg']}; a trial file has {', '.join(FIELDS)}", field=field) from None


def trial_file(
    spec: JobSpec,
    trial: Trial,
    trace: Mapping[str, Any] | None,
    *,
    from_step: int | None = None,
    result: object = None,
) -> dict[str, Any]:
    """The file of a stored trial. With `from_step`, a number from 1, the steps up to it are given from the
    record, and `result`, if it is not None, in place of that step's: text as it is, other data as JSON.

    Raises:
        Conflict: no trace is stored to take steps from.
        SpecError: there is no such step, or it is no tool's and can have no result.
    """
    plain: dict[str, Any] = {
        "spec": spec.model_dump(mode="json"),
        "sample": trial.ref.sample_id,
        "arm": trial.arm,
        "model": trial.model,
        "repeat": trial.repeat,
    }
    if from_step is None:
        if result is not None:
            raise SpecError("needed with a result: the number of the tool's step", field="from_step")
        return plain
    if trace is None:
        raise Conflict("no trace of this trial is stored: it can only be tried again from its start")
    recorded = recorded_until(trace, from_step, result=result)
    return {**plain, "recorded": recorded.model_dump(mode="json", exclude_defaults=True)}


def trial_file_text(trial: Mapping[str, Any], kind: Literal["yaml", "json"]) -> str:
    """The text of a trial file."""
    if kind == "json":
        return json.dumps(trial, indent=2) + "\n"
    return yaml.dump(trial, Dumper=_Plain, sort_keys=False, width=100)


class _Plain(yaml.SafeDumper):
    """YAML without aliases, which spec files may not hold."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 (PyYAML's signature)
        return True
