"""Options that several commands share."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal, cast

import click

from gnomon.core.errors import SpecError
from gnomon_service.cli.completions import complete_arm, complete_model_label

data_dir_option = click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of store, queue and media; default GNOMON_DATA_DIR, else ./.gnomon.",
)
workers_option = click.option(
    "--workers",
    type=click.IntRange(1, 256),
    help="Number of worker processes; default one per core, at most 4, and fewer for a small job.",
)
host_option = click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
port_option = click.option("--port", default=8000, show_default=True, type=click.IntRange(0, 65535))
json_option = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on stdout, nothing else."
)
out_option = click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for the report and the rows."
)
queues_option = click.option(
    "--queues", default="default", show_default=True, help="Queues to listen to, separated by commas."
)


def sample_options(command: Callable[..., None]) -> Callable[..., None]:
    """SPEC and the options of `show` and `try` that select one of its samples."""
    for option in (
        json_option,
        click.option(
            "--model",
            help="The model's name in the spec; default the first model.",
            shell_complete=complete_model_label,
        ),
        click.option(
            "--arm",
            default="",
            help="The arm's name in the spec; a trial file names one.",
            shell_complete=complete_arm,
        ),
        click.option("--sample", default="", help="The sample's id; without it the error lists some ids."),
        click.argument("spec", type=click.Path(path_type=Path), metavar="SPEC"),
    ):
        command = option(command)
    return command


def queues_of(text: str) -> list[str]:
    """The queues that an option names.

    Raises:
        SpecError: it names none, or one with a name that is not allowed.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names or [text]:
        if not re.fullmatch(r"[a-z0-9_-]{1,40}", name):
            raise SpecError(
                f"{name!r} is not a queue name; allowed: a-z, 0-9, _ and -, up to 40", field="--queues"
            )
    return names


Level = Literal["easy", "medium", "hard", "mixed"]
Difficulty = Level | dict[str, tuple[float, float]]  # as in a spec's `select.difficulty`
_RANGE = re.compile(r"([a-z_]+)=([^:,]+):([^:,]+)")


def _difficulty(_: click.Context, __: click.Parameter, text: str | None) -> Difficulty | None:
    if text in (None, "easy", "medium", "hard", "mixed"):
        return cast(Level | None, text)
    ranges: dict[str, tuple[float, float]] = {}
    for part in str(text).split(","):
        match = _RANGE.fullmatch(part)
        try:
            name, low, high = match.groups() if match else ("", "", "")
            ranges[name] = float(low), float(high)
        except ValueError:
            raise click.BadParameter(
                f"easy, medium, hard, mixed, or ranges such as detour=1.5:3,gap_s=10:60; got {text!r}"
            ) from None
    return ranges


difficulty_option = click.option(
    "--difficulty",
    callback=_difficulty,
    help=(
        "Of generated questions: easy, medium, hard, mixed (all in turn), or ranges of features such as "
        "detour=1.5:3."
    ),
)


def _world(_: click.Context, __: click.Parameter, text: str | None) -> dict[str, str] | None:
    if text is None:
        return None
    parts = [part.split("=") for part in text.split(",")]
    if any(len(part) != 2 for part in parts):
        raise click.BadParameter(f"options such as movement=simulated,clocks=apart; got {text!r}")
    return {name.strip(): value.strip() for name, value in parts}


world_option = click.option(
    "--world",
    callback=_world,
    help="What generated places have beyond the plain ones, such as movement=simulated,sight=occluded.",
)
