"""Export a job: plain rows, logs of Inspect AI, chat JSONL, or the trips that it planned."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnomon.whole_file import PUBLIC, whole_file, write_whole
from service.cli.completions import complete_job
from service.cli.options import data_dir_option

if TYPE_CHECKING:
    from workers.store.store import Store


@click.command()
@click.argument("job", shell_complete=complete_job)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["rows", "inspect", "chat", "plans", "cassette"]),
    default="rows",
    show_default=True,
)
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for rows.ndjson, chat.jsonl, plans.jsonl, cassette.jsonl, or one log of each model and arm.",
)
@data_dir_option
def export(job: str, kind: str, out: Path, data_dir: Path | None) -> None:
    """Write JOB as rows or Inspect logs (`gnomon import` reads them), its traces as chat JSONL, or its trips.

    A cassette holds the calls of its tool servers; `cassette: {replay: FILE}` of an arm answers from it.
    The trips are the plans that the benchmark `plan-pairs` compares.
    """
    from gnomon.report.row_formats import rows_ndjson
    from service.cli.common import existing_store, prepare_out, settings_of
    from service.cli.ids import find_job

    store = existing_store(data_dir)
    try:
        job = find_job(store, job)
        prepare_out(out)
        if kind == "rows":
            files = [out / "rows.ndjson"]
            with whole_file(files[0], "w", rights=PUBLIC, encoding="utf-8") as file:
                rows_ndjson(store.iter_rows(job), file)
        elif kind == "chat":
            files = [_chats(store, job, out / "chat.jsonl")]
        elif kind == "cassette":
            files = [_cassette(store, job, out / "cassette.jsonl", settings_of(data_dir).data_dir)]
        elif kind == "plans":
            files = [_plans(store, job, out / "plans.jsonl")]
        else:
            files = _logs(store, job, out, settings_of(data_dir).data_dir)
    finally:
        store.close()
    for path in files:
        click.echo(str(path))


def _unknown(_: str) -> None:
    """The question of a sample that cannot be opened."""


def _chats(store: "Store", job_id: str, path: Path) -> Path:
    from gnomon.exchange.chat import chat_of

    with whole_file(path, "w", rights=PUBLIC, encoding="utf-8") as file:
        for row in store.iter_rows(job_id):
            line = chat_of(row, store.trace(row.trial_id))
            if line is not None:
                file.write(json.dumps(line, allow_nan=False) + "\n")
    return path


def _cassette(store: "Store", job_id: str, path: Path, data_dir: Path) -> Path:
    from service.cassettes import write_job

    with whole_file(path, rights=PUBLIC) as file:
        write_job(store, store.job(job_id), file, data_dir)
    return path


def _plans(store: "Store", job_id: str, path: Path) -> Path:
    """Every trip of a job as `--out trip.json` writes it, with the model and the arm that planned it."""
    from gnomon.core.errors import DataError, SpecError
    from gnomon.itinerary_export.result import result_of

    count = 0
    with whole_file(path, "w", rights=PUBLIC, encoding="utf-8") as file:
        for row in store.iter_rows(job_id):
            try:
                result = result_of(row.answer)
            except DataError:
                continue
            by = ", ".join(part for part in (row.model, row.arm) if part)
            line = {"by": by if row.repeat == 0 else f"{by}, repeat {row.repeat}", **result.as_json()}
            file.write(json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n")
            count += 1
        if not count:
            raise SpecError("holds no planned trip", field="JOB")
    return path


def _logs(store: "Store", job_id: str, out: Path, data_dir: Path) -> list[Path]:
    from gnomon.exchange.inspect_write import log_of
    from service.cli.common import say
    from service.cli.questions import questions_of

    job, rows, files = store.job(job_id), list(store.iter_rows(job_id)), []
    question = questions_of(job.spec, data_dir)
    if question is None:
        say("the job's data are not here: inputs are the stored prompts, targets stay empty")
    for model in job.spec.models:
        for arm in job.spec.arms:
            group = [row for row in rows if (row.model, row.arm) == (model.label, arm.name)]
            if group:
                log = log_of(
                    group,
                    job_id=job_id,
                    created=job.created_at,
                    trace=store.trace,
                    question=question or _unknown,
                )
                name = re.sub(r"[^\w.-]+", "-", f"{job_id}_{model.label}_{arm.name}")
                files.append(out / f"{name}.json")
                write_whole(files[-1], json.dumps(log, allow_nan=False).encode(), rights=PUBLIC)
    return files
