"""Check by real calls what a model's endpoint is fit for, before a job rests on it."""

import json
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from gnomon.core.errors import SpecError
from gnomon.report.text_formats import clean, count
from gnomon_service.cli.completions import complete_model
from gnomon_service.cli.options import data_dir_option, json_option


@click.command()
@click.argument("target", metavar="SPEC|MODEL_ID", shell_complete=complete_model)
@click.option("--api-base", metavar="URL", help="Address of the endpoint of MODEL_ID.")
@click.option(
    "--api-key-env",
    metavar="NAME",
    help="Name of the variable that holds the key of MODEL_ID, never the key.",
)
@click.option(
    "--call-seconds",
    type=click.FloatRange(min=0, min_open=True, max=86_400),
    help="Seconds that one call of MODEL_ID may take; default 120.",
)
@data_dir_option
@json_option
def check(
    target: str,
    api_base: str | None,
    api_key_env: str | None,
    call_seconds: float | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Check by real calls, up to seven a model, what endpoints are fit for.

    With a SPEC (a file) its models are checked for what its arms need; the exit code is 1 where one is not
    fit for that. With a MODEL_ID such as openai/gpt-4o all is tried; it is fit where it answers and calls
    tools natively.
    """
    from gnomon_service.cli.common import say, settings_of
    from gnomon_workers import endpoint_check as checks  # late: it loads models

    settings = settings_of(data_dir)
    options = {"api_base": api_base, "api_key_env": api_key_env, "call_seconds": call_seconds}
    chosen = {name: value for name, value in options.items() if value is not None}
    with redirect_stdout(sys.stderr):  # what a plug-in prints is no part of the result
        if _is_spec(target):
            document = checks.check_spec(_job_of(target, settings, chosen), say=say)
        else:
            document = checks.check_model(_model_of(target, settings, chosen), _media_of(settings), say=say)
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        print_document(document)
    sys.exit(0 if document["fit"] else 1)


def _is_spec(target: str) -> bool:
    """Whether it is a file: one that is there, or named as one."""
    return Path(target).is_file() or target.endswith((".yaml", ".yml", ".json")) or target == "-"


def _job_of(target: str, settings: Any, chosen: dict[str, Any]) -> Any:
    from gnomon_service.cli.common import draft_of, warn

    if chosen:
        field = f"--{next(iter(chosen)).replace('_', '-')}"
        raise SpecError("of a spec's models this stands in the spec", field=field)
    draft = draft_of(Path(target), settings)
    warn(draft)
    return draft.job


def _model_of(target: str, settings: Any, chosen: dict[str, Any]) -> Any:
    """The model with that id, checked as one of a spec is.

    Raises:
        SpecError: it names no provider, or may not be called there; the message names the option.
    """
    from pydantic import ValidationError

    from gnomon.core.validation import first_validation_error
    from gnomon.spec.endpoints import check_endpoints
    from gnomon.spec.model_ids import check_model_id
    from gnomon.spec.model_spec import ModelSpec
    from gnomon.spec.pasted_keys import refuse_keys

    try:
        refuse_keys({"id": target, **chosen}, set_here=os.environ)
        try:
            model = ModelSpec.model_validate({"id": target, **chosen})
        except ValidationError as error:
            raise first_validation_error(error, ModelSpec) from None
        check_model_id(model.id, model.api_base, field="model.id")
        check_endpoints({"model": model}, settings.allowed_bases, is_trusted=True)
    except SpecError as error:
        name = error.field.removeprefix("model.")
        field = "MODEL_ID" if name == "id" else f"--{name.replace('_', '-')}"
        raise SpecError(error.message, field=field) from None
    return model


def _media_of(settings: Any) -> Any:
    from gnomon_workers.open_job import media_of

    media = media_of(settings.data_dir)
    media.check()
    return media


def print_document(document: Mapping[str, Any]) -> None:
    """Print a table for each model, what follows from it, and in one sentence whether it is fit."""
    from gnomon.fitness.table import STATE_WORDS
    from gnomon_service.cli.tables import print_table

    colours = {"fit": "green", "unfit": "red", "not_needed": "dim", "unknown": "yellow"}
    for fitness in document["models"]:
        rows = [
            (
                row["check"],
                (STATE_WORDS[row["state"]], colours[row["state"]]),
                f"{row['asked']}: {row['came']}",
            )
            for row in fitness["findings"]
        ]
        print_table(("check", "state", "asked: what came"), rows, wraps="asked: what came")
        click.echo()
        for row in fitness["findings"]:
            if row["advice"]:
                click.echo(clean(f"{row['check']}: {row['advice']}"))
        click.echo(clean(f"{fitness['sentence']} {_cost(fitness)}"))
        click.echo()
    for entry in document["not_checked"]:
        click.echo(clean(f"{entry['model']} is not checked: {entry['reason']}."))
    for entry in document["environment"]:
        click.echo(
            clean(
                f"From the environment: {entry['name']} ({entry['holds']}), for {', '.join(entry['models'])}"
            )
        )


def _cost(fitness: dict[str, Any]) -> str:
    usd = "price unknown" if fitness["usd"] is None else f"${fitness['usd']:.4f}"
    return f"{count(fitness['calls'], 'call')}, {fitness['seconds']:.1f} s, {usd}."
