"""Import runs made elsewhere: logs of Inspect AI, trajectories, records, results, chat lines and rows."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnomon_service.cli.completions import complete_job, complete_read_format
from gnomon_service.cli.main import INCOMPLETE
from gnomon_service.cli.options import data_dir_option, json_option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gnomon.exchange.format import Reading
    from gnomon.exchange.imported_job import Ended


@click.command("import")
@click.argument("files", nargs=-1, required=True, metavar="[ARM=]FILE...")
@click.option("--name", default="", help="The job's name; default the file names.")
@click.option("--primary", nargs=2, metavar="BASELINE VARIANT", help="The planned (primary) comparison.")
@click.option(
    "--format",
    "kind",
    metavar="FORMAT",
    shell_complete=complete_read_format,
    help="The files' format; default: it is found.",
)
@click.option(
    "--scorer",
    help="The score to read where there are several: SCORER, SCORER.KEY, METRIC, METRIC,FILTER, or a path.",
)
@click.option(
    "--cluster",
    "clusters",
    multiple=True,
    metavar="FIELD",
    help="Field of the samples' metadata that names the cluster, such as the video; twice for two factors.",
)
@click.option("--cell", help="Field of the samples' metadata that names the task.")
@click.option(
    "--into",
    metavar="JOB",
    shell_complete=complete_job,
    help="FILE holds people's answers to this job's questions.",
)
@click.option("--arm", help="With --into: the arm they answered under; default the first.")
@json_option
@data_dir_option
def import_(
    files: tuple[str, ...],
    name: str,
    primary: tuple[str, str] | None,
    kind: str | None,
    scorer: str | None,
    clusters: tuple[str, ...],
    cell: str | None,
    into: str | None,
    arm: str | None,
    as_json: bool,
    data_dir: Path | None,
) -> None:
    """Store runs made elsewhere as one job: logs of Inspect AI (.eval, .json), samples of lm-eval and
    lmms-eval (--log_samples, .jsonl), ATIF trajectories (.json, .jsonl), samples of Every Eval Ever
    (_samples.jsonl, or the .json beside it), results of VLMEvalKit (.tsv, .xlsx, .csv), chat lines (.jsonl),
    rows (.ndjson, .jsonl, .csv).

    Each file is an arm, named by ARM= or else by what it says. With --into, one file of answers (sample_id,
    answer, perhaps model and repeat) is scored as JOB was, and added to its models in a new job.
    """
    from gnomon.core.clusters import coarsest
    from gnomon.core.errors import SpecError

    if into is not None:
        _import_answers(files, into, arm, data_dir, as_json=as_json)
        return
    if arm is not None:
        raise SpecError("is for --into only; name a log's arm by ARM=FILE", field="--arm")
    from gnomon.exchange.format import Reading
    from gnomon.exchange.imported_job import Again, NothingLeft, run_of
    from gnomon.exchange.named_field import NamedField
    from gnomon.report.text_formats import count
    from gnomon_service.cli.common import settings_of
    from gnomon_workers.store.store import open_store

    factors = [NamedField("--cluster", field) for field in dict.fromkeys(clusters)]
    reading = Reading(
        scorer=scorer,
        cluster=replace(factors[0], more=tuple(factors[1:])) if factors else None,
        cell=NamedField("--cell", cell) if cell else None,
    )
    title = name or ", ".join(Path(argument.rpartition("=")[2]).name for argument in files)
    ended = [Again(partial(_read, argument, reading, kind)) for argument in files]
    try:
        run = run_of(list(zip(files, ended, strict=True)), name=title, primary=primary)
    except NothingLeft as nothing:
        _echo_counts("are left out", nothing.left_out, sum(nothing.left_out.values()), err=True)
        sys.exit(INCOMPLETE)
    named = [each for each in (reading.cluster, *factors[1:], reading.cell) if each]
    for each in named:
        each.check()
    lacking = {each.name: (each.lacking, each.trials) for each in named if each.lacking}
    there_are = len(set(coarsest([ref.cluster for ref in run.refs if ref.cluster])))
    settings = settings_of(data_dir)
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open_store(settings.database_url) as store:
        job_id = store.insert_finished_job(run.spec, run.refs, run.ended, faults=run.faults)
    if as_json:
        document = {
            "job_id": job_id,
            "trials": run.trials,
            "samples": len(run.refs),
            "scored": run.trials - sum(run.missing.values()),
            "missing": run.missing,
            "left_out": run.left_out,
            "scores": sorted(reading.taken),
            "clusters": there_are,
            "lacking": {field: number for field, (number, _) in lacking.items()},
            **({"warnings": [fault.detail for fault in run.faults]} if run.faults else {}),
        }
        click.echo(json.dumps(document))
        return
    for fault in run.faults:
        click.echo(f"warning: {fault.detail}", err=True)
    arms = ", ".join(arm.name for arm in run.spec.arms)
    sizes = f"{count(run.trials, 'trial')} of {count(len(run.refs), 'sample')}"
    click.echo(f"job {job_id}: {sizes}; arms: {arms}")
    if reading.taken:
        click.echo(f"scores: {', '.join(sorted(reading.taken))}")
    by_field = f"{count(there_are, 'cluster')}, by {' and '.join(map(repr, clusters or ['cluster']))}"
    click.echo(by_field if there_are else "no clusters: each sample stands for itself")
    for field, (number, trials) in lacking.items():
        click.echo(f"{number:,} of {trials:,} trials do not have the field {field!r}")
    _echo_counts("have no score and are missing", run.missing, run.trials)
    _echo_counts("are left out", run.left_out, run.trials + sum(run.left_out.values()))
    what = "compares them" if len(run.spec.arms) > 1 else "reports it"
    click.echo(f"`gnomon report {job_id} --out report.html` {what}")


def _echo_counts(what: str, counts: "Mapping[str, int]", of: int, *, err: bool = False) -> None:
    """Print how many trials were left out, and why; nothing if there are none."""
    from gnomon.exchange.format import FORMATS

    if counts:
        words = {reason: text for form in FORMATS for reason, text in form.reasons.items()}
        reasons = ", ".join(f"{words.get(reason, reason)} {number:,}" for reason, number in counts.items())
        click.echo(f"{sum(counts.values()):,} of {of:,} trials {what}: {reasons}", err=err)


def _import_answers(
    files: tuple[str, ...], job_id: str, arm: str | None, data_dir: Path | None, *, as_json: bool
) -> None:
    from gnomon.core.errors import SpecError
    from gnomon_service.cli.common import existing_store, settings_of
    from gnomon_service.cli.ids import find_job
    from gnomon_service.import_answers import add_answers

    if len(files) != 1:
        raise SpecError("one file of answers at a time", field="FILE")
    with existing_store(data_dir) as store:
        job_id = find_job(store, job_id)
        new_job = add_answers(store, job_id, Path(files[0]), settings_of(data_dir), arm=arm)
    if as_json:
        click.echo(json.dumps({"job_id": new_job}))
        return
    click.echo(f"job {new_job}: {job_id} with these answers")
    click.echo(f"`gnomon report {new_job} --out report.html` shows them beside its models")


def _read(argument: str, reading: "Reading", kind: str | None) -> "Iterator[Ended]":
    from gnomon.exchange.read_file import read_file

    arm, _, file = argument.rpartition("=") if not Path(argument).exists() else ("", "", argument)
    return read_file(Path(file), replace(reading, arm=arm or None), kind=kind)
