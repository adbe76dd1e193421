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
    from gnomon.recordings.questions import write_questions

    counts = write_questions(recordings, out, seed=seed)
    for task, count in counts.items():
        click.echo(f"{count} {task}")
    click.echo(f"{sum(counts.values())} questions: {out}")


_ROWS = click.argument(
    "rows", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
_DATA = click.option(
    "--data",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="As in the job.",
)
_OUT = click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="A new or empty folder."
)


@generate.command()
@_ROWS
@_DATA
@_OUT
def questions(rows: tuple[Path, ...], data: Path, out: Path) -> None:
    """Write the questions of an urbanvideo-authoring job (its rows.ndjson) as UrbanVideo-Bench does."""
    from gnomon.curation.export_questions import write_harvest
    from gnomon.curation.rows import read_result_rows

    found = read_result_rows(rows, benchmark="urbanvideo-authoring")
    count = write_harvest(found, data=data, out=out)
    click.echo(f"{count} questions of {len(found)} answers: {out}")


@generate.command()
@_ROWS
@_DATA
@_OUT
@click.option("--arm", default="blind", show_default=True, help="The arm that was not shown the clip.")
def filtered(rows: tuple[Path, ...], data: Path, out: Path, arm: str) -> None:
    """Write the questions without those that every model answered blind (rows.ndjson of such jobs)."""
    from gnomon.curation.blind_filter import judged, write_filtered
    from gnomon.curation.rows import read_result_rows

    found = read_result_rows(rows, arm=arm)
    verdict = judged(found)
    left = write_filtered(verdict, benchmark=found[0]["benchmark"], data=data, out=out)
    asked = len(verdict.dropped) + len(verdict.kept)
    click.echo(
        f"{len(verdict.dropped)} of {asked} dropped: {len(verdict.models)} models were right without looking"
    )
    click.echo(f"{len(verdict.unasked)} kept because a model gave no answer; {left} rows: {out}")
