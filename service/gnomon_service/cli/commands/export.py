"""Export a job: rows, logs of Inspect AI, trajectories, spans, records, questions, chat JSONL or trips."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnomon_service.cli.completions import complete_job, complete_written_format
from gnomon_service.cli.options import data_dir_option

if TYPE_CHECKING:
    from gnomon.exchange.job_export import ExportFile, ReadQuestion
    from gnomon_workers.store.store import Store

STDOUT = Path("-")


@click.command()
@click.argument("job", shell_complete=complete_job)
@click.option(
    "--format",
    "kind",
    default="rows",
    show_default=True,
    metavar="FORMAT",
    shell_complete=complete_written_format,
    help="See below.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, allow_dash=True, path_type=Path),
    help="Folder for the files; `-` writes the one file, or a zip of several, to stdout.",
)
@click.option(
    "--media",
    "with_media",
    is_flag=True,
    help="With pictures: beside the trajectories of atif, within the logs of Inspect and the chat lines.",
)
@data_dir_option
def export(job: str, kind: str, out: Path, with_media: bool, data_dir: Path | None) -> None:
    """Write JOB in a format of others; docs/exchange.md says what each holds and what `gnomon import` reads.

    \b
    rows              rows.ndjson
    inspect           a .json log of Inspect AI per model and arm; inspect-eval: a .eval log
    atif              trajectories.jsonl, one ATIF v1.7 document per trial
    otel              spans.jsonl, OTLP/JSON spans of agents, chats and tools
    every-eval-ever   records and samples of Every Eval Ever, per model and arm
    vlmevalkit        the questions as a TSV of VLMEvalKit, with their pictures
    chat              chat.jsonl, messages for fine-tuning
    cassette          cassette.jsonl, calls of tool servers, which `cassette: {replay: FILE}` answers from
    plans             plans.jsonl, the trips that the benchmark `plan-pairs` compares
    """  # noqa: D301 (click's own mark: what follows keeps its lines)
    from gnomon.exchange.format import files_of, format_called, single_stream, written_names
    from gnomon_service.cli.common import existing_store, prepare_out, settings_of
    from gnomon_service.cli.ids import find_job
    from gnomon_service.job_export import exported_job
    from gnomon_workers.open_job import media_of

    form = format_called(kind, written_names())
    folder = settings_of(data_dir).data_dir
    with existing_store(data_dir) as store:
        job = find_job(store, job)
        exported = exported_job(
            store,
            job,
            question=_questions(store, job, folder, is_needed=form.needs_questions),
            media=media_of(folder),
            with_media=with_media,
        )
        if out == STDOUT:
            stdout = sys.stdout.buffer
            for piece in single_stream(kind, exported).chunks:
                stdout.write(piece)
            stdout.flush()
            return
        prepare_out(out)
        for path in _written(files_of(kind, exported), out):
            click.echo(str(path))


def _written(files: "Iterable[ExportFile]", out: Path) -> list[Path]:
    """Write the files into the folder, each whole or not at all."""
    from gnomon.whole_file import PUBLIC, whole_file

    paths = []
    for file in files:
        path = out / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path, rights=PUBLIC) as target:
            for piece in file.chunks:
                target.write(piece)
        paths.append(path)
    return paths


def _questions(store: "Store", job_id: str, data_dir: Path, *, is_needed: bool) -> "ReadQuestion":
    from gnomon_service.cli.common import say
    from gnomon_service.web.questions import Questions, unknown_question

    question = Questions(data_dir).views(job_id, store.job(job_id).spec) if is_needed else None
    if question is None and is_needed:
        say(
            "the job's data are not here: inputs are the stored prompts, targets those of an import, or empty"
        )
    return question or unknown_question
