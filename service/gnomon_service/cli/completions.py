"""Completes ids and names on the command line, for the shell: quick, and silent whatever happens.

Ids are read from the data folder's SQLite file without the store's code, which takes longer to import than a
shell should wait. Of a PostgreSQL database nothing is completed.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import click

LISTED = 100
BUSY_S = 0.2
Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def _quiet(names: Callable[[click.Context, str], Iterable[str]]) -> Complete:
    """The names that begin with what is typed; none where finding them fails."""

    def complete(ctx: click.Context, _: click.Parameter, typed: str) -> list[str]:
        try:
            return [name for name in names(ctx, typed) if name.startswith(typed)][:LISTED]
        except Exception:  # noqa: BLE001 (an error's text would stand in the middle of the user's line)
            return []

    return complete


def _column(ctx: click.Context, query: str, *values: str) -> list[str]:
    folder = ctx.params.get("data_dir") or os.environ.get("GNOMON_DATA_DIR") or ".gnomon"
    url = os.environ.get("GNOMON_DATABASE_URL") or ""
    path = Path(folder) / "gnomon.db"
    if url:
        if not url.startswith("sqlite:///"):
            return []
        path = Path(url.removeprefix("sqlite:///"))
    source = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(source, uri=True, timeout=BUSY_S)) as db:
        return [str(row[0]) for row in db.execute(query, values)]


def _begins(typed: str) -> str:
    return typed.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_") + "%"


def _jobs(ctx: click.Context, typed: str) -> list[str]:
    query = f"SELECT id FROM jobs WHERE id LIKE ? ESCAPE '\\' ORDER BY number DESC LIMIT {LISTED}"  # noqa: S608
    return _column(ctx, query, _begins(typed))


def _trials(ctx: click.Context, typed: str) -> list[str]:
    query = f"SELECT trial_id FROM trials WHERE trial_id LIKE ? ESCAPE '\\' LIMIT {LISTED}"  # noqa: S608
    return _column(ctx, query, _begins(typed))


def _samples(ctx: click.Context, typed: str) -> list[str]:
    job = _job_of(ctx)
    where = "job_id LIKE ? ESCAPE '\\' AND sample_id LIKE ? ESCAPE '\\'"
    query = f"SELECT DISTINCT sample_id FROM trials WHERE {where} LIMIT {LISTED}"  # noqa: S608
    return _column(ctx, query, _begins(job), _begins(typed)) if job else []


def _trials_or_samples(ctx: click.Context, typed: str) -> list[str]:
    first = _job_of(ctx)
    if first and not first.startswith("t_"):
        return _samples(ctx, typed)
    return _trials(ctx, typed) + ([] if first else _jobs(ctx, typed))


def _jobs_or_trials(ctx: click.Context, typed: str) -> list[str]:
    return _jobs(ctx, typed) + _trials(ctx, typed)


def _job_of(ctx: click.Context) -> str:
    return _first_word(ctx, "ids") or _first_word(ctx, "job")


def _first_word(ctx: click.Context, name: str) -> str:
    """The first word of an argument; empty where the command has none of that name, or it is still to come.

    Click leaves the words unread while the option that is typed lacks its value.
    """
    if all(parameter.name != name for parameter in ctx.command.params):
        return ""
    words = ctx.params.get(name) or ctx.args[:1]
    return "" if not words else str(words[0] if isinstance(words, tuple | list) else words)


def _named_in_spec(field: str) -> Callable[[click.Context, str], list[str]]:
    """The names of a list in the spec, of the file or of the job that the line names."""

    def names(ctx: click.Context, _: str) -> list[str]:
        if spec := _first_word(ctx, "spec"):
            from gnomon.spec.spec_file import read_spec

            return _names(read_spec(Path(spec)), field)
        import json

        job = _job_of(ctx)
        query = "SELECT spec FROM jobs WHERE id LIKE ? ESCAPE '\\' LIMIT 1"
        texts = _column(ctx, query, _begins(job)) if job else []
        return _names(json.loads(texts[0]), field) if texts else []

    return names


def _names(spec: Any, field: str) -> list[str]:
    listed = spec.get(field)
    entries: Sequence[Any] = listed if isinstance(listed, list) else ()
    return [str(entry.get("name") or entry.get("id")) for entry in entries if isinstance(entry, dict)]


def _benchmarks(_: click.Context, __: str) -> Sequence[str]:
    from gnomon.core.benchmark import BENCHMARKS

    return BENCHMARKS.names()


def _presets(_: click.Context, __: str) -> Sequence[str]:
    from gnomon.spec.preset import PRESETS

    return PRESETS.names()


def _tools(_: click.Context, __: str) -> Sequence[str]:
    from gnomon_tools.core.toolbox import TOOLS

    return TOOLS.names()


def _written_formats(_: click.Context, __: str) -> Sequence[str]:
    from gnomon.exchange.format import written_names

    return written_names()


def _read_formats(_: click.Context, __: str) -> Sequence[str]:
    from gnomon.exchange.format import read_names

    return read_names()


def _models(_: click.Context, typed: str) -> Sequence[str]:
    from gnomon.price_table import model_ids

    return ["reference", "scripted", *(model_ids(typed) if typed else ())]


complete_job = _quiet(_jobs)
complete_trial_or_sample, complete_job_or_trial = _quiet(_trials_or_samples), _quiet(_jobs_or_trials)
complete_arm, complete_model_label = _quiet(_named_in_spec("arms")), _quiet(_named_in_spec("models"))
complete_benchmark, complete_preset = _quiet(_benchmarks), _quiet(_presets)
complete_tool, complete_model = _quiet(_tools), _quiet(_models)
complete_written_format, complete_read_format = _quiet(_written_formats), _quiet(_read_formats)
