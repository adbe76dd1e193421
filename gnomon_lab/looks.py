"""Looks at a job before anything is spent: its plan, its samples, a prompt, one trial."""

import asyncio
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gnomon.core.errors import SpecError
from gnomon.trials.trial_file import is_trial_file, read_trial_file
from gnomon_lab.frames import Records
from gnomon_lab.local import LocalJobs, draft_of, settings_of
from gnomon_lab.views import Plan, Prompt, Trace

if TYPE_CHECKING:
    from gnomon_workbench.dry_run import Selection

Spec = str | Path | Mapping[str, Any]
T = TypeVar("T")


def plan(
    spec: Spec,
    *,
    pilot: str | None = None,
    lost: float = 0.0,
    icc: float | None = None,
    data_dir: str | Path | None = None,
) -> Plan:
    """What the job of a spec would cost and could detect; spends nothing. `pilot` is a stored job.

    Raises:
        SpecError, DataError: the spec or its data is invalid.
        NotFound: the pilot does not exist.
    """
    from gnomon.statistics.design import ICC  # late, as all here: the module is imported with the package
    from gnomon_service.cli.ids import find_job
    from gnomon_service.planning import plan as plan_job

    settings = settings_of(data_dir)
    draft = draft_of(spec, settings)
    chosen = ICC if icc is None else icc
    if pilot is None:
        return Plan(plan_job(draft, lost=lost, icc=chosen))
    with LocalJobs(settings).store() as store:
        return Plan(plan_job(draft, store=store, pilot=find_job(store, pilot), lost=lost, icc=chosen))


def samples(spec: Spec, *, data_dir: str | Path | None = None) -> Records:
    """The samples that a spec selects: id, task, cell and cluster.

    Raises:
        SpecError, DataError: the spec or its data is invalid.
    """
    refs = draft_of(spec, settings_of(data_dir)).refs
    names = ("sample_id", "task", "cell", "cluster")
    return Records(({name: getattr(ref, name) for name in names} for ref in refs), columns=names)


def show(
    spec: Spec,
    *,
    sample: str | None = None,
    arm: str | None = None,
    model: str | None = None,
    data_dir: str | Path | None = None,
) -> Prompt:
    """The exact messages, tool schemas and pictures that a model would get; calls none.

    Without `sample` it is the first that the spec selects; the arm is needed where there are several.

    Raises:
        SpecError, DataError: the spec or its data is invalid, or has no such arm or model.
        NotFound: the spec selects no such sample.
    """
    from gnomon_workbench.dry_run import render_prompt

    selection = _selected(spec, sample=sample, arm=arm, model=model, data_dir=data_dir)
    shown = _completed(render_prompt(selection))
    return Prompt(shown, read_picture=selection.job.bench.media.read)


def try_(
    spec: Spec,
    *,
    sample: str | None = None,
    arm: str | None = None,
    model: str | None = None,
    data_dir: str | Path | None = None,
) -> Trace:
    """Run one trial without queue or store, and show its trace. The spec may be a trial file.

    Raises:
        SpecError, DataError: the spec or its data is invalid, or has no such arm or model.
        NotFound: the spec selects no such sample.
    """
    from gnomon.report.row_formats import row_to_json
    from gnomon_workbench.dry_run import run_once

    selection = _selected(spec, sample=sample, arm=arm, model=model, data_dir=data_dir)
    row, trace = _completed(run_once(selection, watch=lambda _: None))
    trial = selection.trial()
    view: Any = {
        **trial.identity(),
        "state": "done",
        "attempt": 1,
        "row": row_to_json(row),
        "trace": trace.to_json(),
    }
    return Trace(view)


def _selected(
    spec: Spec, *, sample: str | None, arm: str | None, model: str | None, data_dir: str | Path | None
) -> "Selection":
    """The trial that is meant."""
    from gnomon.spec.spec_file import read_spec
    from gnomon_workbench.dry_run import pick

    fields = read_spec(Path(spec)) if isinstance(spec, str | Path) else spec
    trial = read_trial_file(fields) if is_trial_file(fields) else None
    written: Any = trial.spec if trial else fields
    job = draft_of(written, settings_of(data_dir)).job
    arms = [each.name for each in job.bench.spec.arms]
    arm = arm or (trial.arm if trial else None) or (arms[0] if len(arms) == 1 else None)
    if arm is None:
        raise SpecError(f"needed; there are: {', '.join(arms)}", field="arm")
    return pick(
        job,
        sample_id=sample or (trial.sample if trial else job.samples.refs[0].sample_id),
        arm=arm,
        model=model or (trial.model if trial else None),
        repeat=trial.repeat if trial else 0,
        recorded=trial.recorded if trial else None,
    )


def _completed(work: Coroutine[Any, Any, T]) -> T:
    """What the coroutine returns; where an event loop runs, as in a notebook, it gets a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    thread = ThreadPoolExecutor(1, thread_name_prefix="gnomon-lab")
    try:
        return thread.submit(asyncio.run, work).result()
    finally:
        thread.shutdown(wait=False)  # a cell that is interrupted ends at once
