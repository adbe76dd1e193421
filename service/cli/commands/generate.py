"""Write generated worlds as files in GTR-Bench's layout."""

from pathlib import Path

import click


@click.group()
def generate() -> None:
    """Make data from a seed."""


@generate.command()
@click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder to write."
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0))
@click.option(
    "--scenes", default=4, show_default=True, type=click.IntRange(1, 10_000), help="How many places."
)
@click.option(
    "--samples", default=56, show_default=True, type=click.IntRange(1, 1_000_000), help="How many questions."
)
def worlds(out: Path, seed: int, scenes: int, samples: int) -> None:
    """Write maps, scenes and questions of generated places; the same seed writes the same files."""
    from gnomon.worlds.generate import generate as write

    from service.cli.progress import counting

    with counting("questions") as advance:
        write(out, seed=seed, scenes=scenes, samples=samples, progress=advance)
    click.echo(f"{samples} questions in {scenes} places: {out}")
