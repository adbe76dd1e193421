"""Find shortcuts and label errors in a benchmark: leaks, answer positions, duplicates, missing media."""

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnomon.core.errors import DataError, SpecError
from gnomon_analyses.own_files import reading
from gnomon_service.cli.main import DONE, INCOMPLETE
from gnomon_service.cli.options import Difficulty, difficulty_option, json_option, world_option
from gnomon_service.cli.progress import counting

if TYPE_CHECKING:
    from gnomon.core.benchmark import Benchmark

WIDTH = 150  # columns that the tables need; a narrower terminal wraps them


@click.command()
@click.option("--benchmark", "name", required=True, help="The benchmark's name.")
@click.option("--data", type=click.Path(path_type=Path), help="Its published folder; not needed for worlds.")
@click.option(
    "--columns",
    multiple=True,
    metavar="OURS=THEIRS",
    help="What your own file calls a column; may be given several times.",
)
@click.option("--scorer", help="Scorer of your own file where a row names none: a name, or JSON.")
@click.option(
    "--tasks", multiple=True, metavar="NAME", help="Only questions of this task; may be given several times."
)
@click.option("--limit", type=click.IntRange(1, 10_000_000), help="Maximum number of samples; default all.")
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0, 2**63 - 1), help="Seed of their selection."
)
@difficulty_option
@world_option
@json_option
def audit(
    name: str,
    data: Path | None,
    columns: tuple[str, ...],
    scorer: str | None,
    tasks: tuple[str, ...],
    limit: int | None,
    seed: int,
    difficulty: Difficulty | None,
    world: dict[str, str] | None,
    as_json: bool,
) -> None:
    """Try every known shortcut on the questions, using the files and both prompts; calls no model.

    Exit code 1 if a leak survives in the guarded prompt, which promises to withhold it.
    """
    from rich.console import Console

    from gnomon.core.benchmark import BENCHMARKS
    from gnomon.core.select import Select
    from gnomon.media import MediaStore
    from gnomon_analyses.audit.audit import audit as measure
    from gnomon_analyses.audit.tables import tables
    from gnomon_tools.core.registry import UnknownPlugin

    try:
        benchmark = BENCHMARKS.get(name)
    except UnknownPlugin as error:
        raise SpecError(str(error), field="--benchmark") from None
    benchmark = reading(benchmark, columns, scorer)
    for option, value in (("difficulty", difficulty), ("world", world)):
        if value is not None and not _has(benchmark, option):
            raise SpecError(f"{name} has no {option} to choose", field=f"--{option}")
    select = Select(tasks=tasks, limit=limit, seed=seed, difficulty=difficulty, world=world)
    with tempfile.TemporaryDirectory() as folder, counting("samples") as advance:
        media = MediaStore(Path(folder))
        try:
            findings = measure(benchmark, data=data, select=select, media=media, progress=advance)
        except (DataError, SpecError) as error:
            field = (error.field or "data").removeprefix("select.").split(".")[0]
            raise type(error)(error.message, field=f"--{field}") from None
    if as_json:
        click.echo(json.dumps(findings.document(), indent=2, ensure_ascii=False))
    else:
        console = Console(width=max(WIDTH, Console().width))
        for block in tables(findings):
            console.print(block, highlight=False)
    sys.exit(INCOMPLETE if findings.surviving else DONE)


def _has(benchmark: "Benchmark", option: str) -> bool:
    from gnomon.core.benchmark import SupportsOptions

    return isinstance(benchmark, SupportsOptions) and option in benchmark.options
