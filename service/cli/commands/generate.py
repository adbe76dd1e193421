"""Write questions as files: of generated worlds, or of recorded motion."""

from pathlib import Path

import click

Count = click.IntRange(1, 1_000_000)


@click.group()
def generate() -> None:
    """Make data from a seed."""


@generate.command()
@click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="A new or empty folder."
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0))
@click.option(
    "--scenes", type=Count, help="Towns, and as many buildings; default one of each per 14 questions."
)
@click.option("--samples", type=Count, help="Questions; default 14 for each of --scenes.")
def worlds(out: Path, seed: int, scenes: int | None, samples: int | None) -> None:
    """Write maps, scenes and questions of generated places; the same seed writes the same files."""
    from gnomon.worlds.generate import generate as write
    from service.cli.progress import counting

    with counting("questions") as advance:
        count = write(out, seed=seed, scenes=scenes, samples=samples, progress=advance)
    click.echo(f"{count} questions: {out}")


@generate.command()
@click.argument(
    "recordings", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="A new or empty folder."
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0))
def motion(recordings: tuple[Path, ...], out: Path, seed: int) -> None:
    """Write questions of STI-Bench's kind about RECORDINGS (boxes and camera poses, frame by frame)."""
    from gnomon.motion.write import write_questions

    counts = write_questions(recordings, out, seed=seed)
    for task, count in counts.items():
        click.echo(f"{count} {task}")
    click.echo(f"{sum(counts.values())} questions: {out}")
