"""What several commands share: settings, specs and the store, and a job shown, run and reported."""

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from gnomon.core.errors import DataError, GnomonError, NotFound, SpecError
from gnomon.report.text_formats import count
from gnomon.spec.spec_file import read_spec
from gnomon.stopping import followed
from gnomon_service.cli.main import DONE, INCOMPLETE
from gnomon_service.cli.progress import line_now_and_then
from gnomon_service.data_folder import keep_private
from gnomon_service.jobs import Draft, draft_from_cli, of_draft
from gnomon_service.settings import Settings, read_settings
from gnomon_workers.process import limit_memory

if TYPE_CHECKING:
    from gnomon_service.local_stack import LocalStack
    from gnomon_workers.store.records import JobRecord
    from gnomon_workers.store.store import Store

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
MAX_NAME_CHARS = 60
NOT_BEGUN = "before any trial was run; `gnomon jobs` shows whether a job was kept"


def settings_of(data_dir: Path | None) -> Settings:
    """The settings of this process; from now on only its owner can read the data folder."""
    settings = read_settings(os.environ, data_dir=data_dir)
    keep_private(settings.data_dir)
    return settings


def draft_of(spec: Path, settings: Settings) -> Draft:
    """The spec in a file, checked and its data opened.

    Raises:
        SpecError, DataError: the spec or its data is invalid; the message names the entry of a list.
    """
    return checked_draft(read_spec(spec), settings)


def checked_draft(fields: object, settings: Settings) -> Draft:
    """A spec as plain data, checked and its data opened.

    Raises:
        SpecError, DataError: the spec or its data is invalid; the message names the entry of a list.
    """
    try:
        # What a plug-in prints is no part of a command's result.
        with redirect_stdout(sys.stderr), followed(line_now_and_then()):
            return draft_from_cli(fields, settings)
    except (SpecError, DataError) as error:
        raise naming_entry(error, fields) from None


def naming_entry(error: GnomonError, spec: object) -> GnomonError:
    """The error of a spec's field, with the entry of a list that it means in words: paths count from 0."""
    if entry := entry_in_words(error.field, spec):
        return type(error)(f"{error.message} ({entry})", field=error.field)
    return error


def entry_in_words(field: str, spec: object) -> str:
    """Which entry of a list the path `field` means; empty where it means none.

    >>> entry_in_words("models.0.id", {"models": [{"id": "openai/gpt-4o"}]})
    "the first of models, 'openai/gpt-4o'"
    >>> entry_in_words("select.seed", {})
    ''
    """
    path, entry = field.split("."), spec
    for depth, part in enumerate(path):
        if part.isdecimal() and isinstance(entry, list):
            name = _name_of(_inner(entry, part))
            called = f", {name!r}" if name else ""
            return f"{_ordinal(int(part))} of {'.'.join(path[:depth])}{called}"
        entry = _inner(entry, part)
    return ""


def _inner(value: object, part: str) -> object:
    if isinstance(value, dict):
        return value.get(part)
    is_entry = isinstance(value, list) and part.isdecimal() and int(part) < len(value)
    return cast(list[object], value)[int(part)] if is_entry else None


def _name_of(entry: object) -> str:
    name = (entry.get("name") or entry.get("id")) if isinstance(entry, dict) else None
    return name[:MAX_NAME_CHARS] if isinstance(name, str) else ""


def _ordinal(index: int) -> str:
    return f"the {ORDINALS[index]}" if index < len(ORDINALS) else f"number {index + 1}"


def warn(draft: Draft) -> None:
    """Print the draft's warnings, before anything is spent."""
    for warning in draft.warnings:
        say(f"warning: {warning}")


def say(message: str) -> None:
    """Print a line for a person: on stderr, as stdout holds results alone."""
    click.echo(message, err=True)


def say_stopping(running: int) -> None:
    """Say how many trials of a cancelled job still run: until they have ended its counts grow."""
    say(f"stopping: {count(running, 'trial')} in flight")


def existing_store(data_dir: Path | None) -> "Store":
    """The store of a data folder; none is created.

    Raises:
        NotFound: the data folder has no store.
    """
    from gnomon_workers.store.store import open_store  # late: most commands need no store

    return open_store(settings_with_store(data_dir).database_url)


def settings_with_store(data_dir: Path | None) -> Settings:
    """The settings of this process, where their data folder or their database holds a store.

    Raises:
        NotFound: the data folder has none.
    """
    settings = settings_of(data_dir)
    if not settings.has_store:
        raise NotFound(f"{settings.data_dir} holds no jobs; name another folder", field="--data-dir")
    return settings


def prepare_out(out: Path | None) -> None:
    """Make the folder for a report before anything is spent on what it will hold.

    Raises:
        SpecError: it cannot be made.
    """
    if out is not None:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SpecError(f"{out} cannot be made: {error.strerror}", field="--out") from None


def need_redis(settings: Settings) -> str:
    """The URL in GNOMON_REDIS_URL.

    Raises:
        SpecError: it is not set.
    """
    if settings.redis_url is None:
        from gnomon_workers.redis_url import ALLOWED

        raise SpecError(f"not set; allowed: {ALLOWED}", field="GNOMON_REDIS_URL")
    return settings.redis_url


def run_and_report(
    draft: Draft, settings: Settings, *, out: Path | None, as_document: bool, workers: int | None
) -> None:
    """Run the draft's job, print its report, write it to `out`, and exit with the job's exit code."""
    warn(draft)
    finish(of_draft(draft), settings, out=out, as_document=as_document, workers=workers)


def finish(
    begin: "Callable[[LocalStack], JobRecord]",
    settings: Settings,
    *,
    out: Path | None,
    as_document: bool,
    workers: int | None,
) -> None:
    """Run the job that `begin` queues, print its report, write it to `out`, and exit with its exit code."""
    limit_memory()  # as its workers do, which are forks of it
    from gnomon.report.terminal import summary_text  # late, as all here: a spec's error needs none of them
    from gnomon_service.cli.progress import JobProgress
    from gnomon_service.reports import as_json, report_of, write_folder
    from gnomon_service.run_job import end_job, run_to_end
    from gnomon_workers.store.store import open_store

    begun: list[str] = []
    with JobProgress() as progress:

        def started(job: "JobRecord", abandoned: "Sequence[JobRecord]") -> None:
            begun.append(job.id)
            for old in abandoned:
                say(f"job {old.id} ({old.name}) was left unfinished by an earlier command and is cancelled")
            say(f"job {job.id}: {count(job.counts.planned, 'trial')}, data in {settings.data_dir}")

        try:
            job_id = run_to_end(
                begin,
                settings,
                workers=workers,
                started=started,
                progress=progress.show,
                stopping=say_stopping,
            )
        except KeyboardInterrupt:
            message = _how_to_resume(begun[0], settings) if begun else NOT_BEGUN
            raise KeyboardInterrupt(message) from None
    with open_store(settings.database_url) as store:
        job, cassettes = end_job(store, job_id, settings.data_dir)
        report = report_of(store, job_id)
        for path, lines in cassettes:
            say(f"cassette: {path}, {count(lines, 'line')}")
        if out is not None:
            write_folder(store, job_id, report, out, data_dir=settings.data_dir)
    click.echo(as_json(report) if as_document else summary_text(report))
    if out is not None:
        say(f"report: {out / 'report.html'}")
    if job.error and as_document:  # else it is part of the summary
        say(f"job {job.id} failed: {job.error}")
    counts = job.counts
    answered = counts.scored + counts.model_failed
    have = "has" if counts.planned == 1 else "have"
    ended = f"{answered:,} of {count(counts.planned, 'trial')} {have} a result"
    stopped = f", {job.not_run:,} not run: decided early" if job.not_run else ""
    say(f"job {job.id} {job.status}: {ended}, {counts.infra_missing:,} missing{stopped}")
    if job.status == "cancelled":
        say(_how_to_resume(job.id, settings))
    left = counts.planned - answered - job.not_run
    if job.status == "completed":
        say_never_read(progress.never_read)
    sys.exit(exit_code(job.status, missing=left, is_read=not progress.never_read))


def say_never_read(arms: Sequence[tuple[str, str]]) -> None:
    """Say of models and arms of which no reply could be read that they are why the exit code is 1."""
    for model, arm in arms:
        say(f"exit code 1: no reply of {model} in “{arm}” could be read; `gnomon trace` shows what it wrote")


def exit_code(status: str, *, missing: int, is_read: bool = True) -> int:
    """0 where every planned trial has an outcome that counts, and replies of every arm are read, else 1.

    >>> exit_code("completed", missing=0), exit_code("completed", missing=3)
    (0, 1)
    """
    return DONE if status == "completed" and missing == 0 and is_read else INCOMPLETE


def _how_to_resume(job_id: str, settings: Settings) -> str:
    is_usual = settings.data_dir == settings_of(None).data_dir
    folder = "" if is_usual else f" --data-dir {shlex.quote(str(settings.data_dir))}"
    return f"`gnomon resume {job_id}{folder}` runs what is missing"
