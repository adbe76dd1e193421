"""Write questions as files: of generated worlds, of recorded motion or tracking, or from a job's answers."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from gnomon.core.errors import DataError, SpecError
from gnomon.report.text_formats import count
from gnomon_service.cli.options import Difficulty, difficulty_option, json_option, world_option
from gnomon_service.cli.progress import counting
from gnomon_worlds.commands.recording_options import INPUT_FILE, recording_of, recording_options

Count = click.IntRange(1, 1_000_000)
CLIP_SIZES = {"640x360": (640, 360), "960x540": (960, 540), "1920x1080": (1920, 1080)}
DEGREE = "none, some, much, or from 0 to 1"


def _out(words: str) -> Callable[..., Any]:
    return click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help=words)


_OUT = _out("A new or empty folder.")
_SEED = click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0))


@click.group()
def generate() -> None:
    """Write questions as files."""


@generate.command()
@_out("A new or empty folder, or one in which the same was stopped.")
@_SEED
@click.option(
    "--scenes",
    type=Count,
    help="Number of towns, and of buildings, of each level; default one of each per 14 questions.",
)
@click.option("--samples", type=Count, help="Number of questions; default 14 per scene and level.")
@difficulty_option
@world_option
@click.option("--clips", is_flag=True, help="Also draw what the cameras see, as MP4.")
@click.option(
    "--clip-size",
    type=click.Choice(list(CLIP_SIZES)),
    default="640x360",
    show_default=True,
    help="Of clips, in pixels.",
)
@click.option("--night", default="none", show_default=True, help=f"How dark clips are: {DEGREE}.")
@click.option("--rain", default="none", show_default=True, help=f"How much it rains in them: {DEGREE}.")
@click.option(
    "--low-frame-rate", default="none", show_default=True, help=f"How long their pictures stay: {DEGREE}."
)
@click.option(
    "--workers", type=click.IntRange(1, 256), help="Number of processes at most; default that of cores."
)
def worlds(
    out: Path,
    seed: int,
    scenes: int | None,
    samples: int | None,
    difficulty: Difficulty | None,
    world: dict[str, str] | None,
    clips: bool,
    clip_size: str,
    night: str,
    rain: str,
    low_frame_rate: str,
    workers: int | None,
) -> None:
    """Write maps, scenes and questions of generated places; the same seed writes the same files.

    Run again with the same options, it goes on where it was stopped.
    """
    from gnomon_service.cli.common import say
    from gnomon_worlds.difficulty import Difficulty as Levels
    from gnomon_worlds.generate import generate as write
    from gnomon_worlds.options import WorldOptions
    from gnomon_worlds.sample_numbers import CELLS, difficulties_of, offered

    style = None
    if clips:
        from gnomon_worlds.rendering.clip import Style
        from gnomon_worlds.rendering.light import Conditions

        conditions = Conditions.of(night=night, rain=rain, low_frame_rate=low_frame_rate)
        style = Style(size_px=CLIP_SIZES[clip_size], conditions=conditions)
    try:
        options = None if world is None else WorldOptions.of(world)
        in_turn = difficulties_of(difficulty, options)
        with counting("questions") as advance:
            written = write(
                out,
                seed=seed,
                scenes=scenes,
                samples=samples,
                difficulty="mixed" if difficulty == "mixed" else in_turn[0],
                clips=style,
                options=options,
                workers=workers or os.cpu_count() or 1,
                progress=advance,
            )
    except (DataError, SpecError) as error:
        if not (error.field or "").startswith("select."):
            raise
        option = "--world" if (error.field or "").startswith("select.world") else "--difficulty"
        raise type(error)(error.message, field=option) from None
    if difficulty == "mixed":
        rounds = [len(offered(range(len(CELLS)), each, options)) for each in in_turn]
        for warning in Levels.left_out(in_turn, rounds=rounds, limit=written):
            say(f"warning: {warning}")
    click.echo(f"{count(written, 'question')}: {out}")


@generate.command()
@_OUT
@_SEED
@click.option(
    "--tours", default=8, show_default=True, type=Count, help="Number of rides, and as many flights."
)
@click.option("--clips", is_flag=True, help="Also draw what the cameras see, as MP4.")
def tours(out: Path, seed: int, tours: int, clips: bool) -> None:
    """Write questions about cameras that ride and fly through generated towns.

    Rides are laid out as STI-Bench is, flights as UrbanVideo-Bench, with a recording of each.
    """
    from gnomon_worlds.motion.generate import write_tours

    with counting("tours") as advance:
        counts = write_tours(out, seed=seed, tours=tours, has_clips=clips, progress=advance)
    _tell(counts, out)


@generate.command()
@click.argument(
    "recordings", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@_OUT
@_SEED
def motion(recordings: tuple[Path, ...], out: Path, seed: int) -> None:
    """Write questions of STI-Bench's kind about RECORDINGS (boxes and camera poses, frame by frame)."""
    from gnomon_worlds.recordings.questions import write_questions

    _tell(write_questions(recordings, out, seed=seed), out)


def _tell(counts: Mapping[str, int], out: Path) -> None:
    """Say how many questions of each task there are."""
    for task, number in counts.items():
        click.echo(f"{number} {task}")
    click.echo(f"{count(sum(counts.values()), 'question')}: {out}")


@generate.command()
@recording_options
@_out("A new or empty folder, or one that a build of the same data was cut off in.")
@click.option("--tasks", help="Names of tasks, separated by commas; default all seven.")
@click.option("--limit", type=Count, default=210, show_default=True, help="Number of questions, at most.")
@_SEED
@click.option(
    "--synthetic",
    type=click.IntRange(0, 1000),
    help="Synthetic cameras along the roads as wrong options; default as many as make 12 cameras.",
)
@click.option("--clips", is_flag=True, help="Link or copy the videos too, so that models see them.")
@click.option(
    "--decisions", type=INPUT_FILE, help="build/review.ndjson with decisions: drops what they drop."
)
@json_option
def recordings(
    folder: Path,
    layout: str,
    points: Path | None,
    cut_views: bool,
    out: Path,
    tasks: str | None,
    limit: int,
    seed: int,
    synthetic: int | None,
    clips: bool,
    decisions: Path | None,
    as_json: bool,
    **inputs: Any,
) -> None:
    """Write questions like GTR-Bench's about multi-camera tracking in FOLDER, with a map and a report.

    Run again with the same options, it goes on where it was cut off.
    """
    from gnomon_analyses.reviews.decisions import read_decisions
    from gnomon_published.benchmarks.gtr_bench.case import TASKS
    from gnomon_service.cli.common import say
    from gnomon_worlds.tracking.build import Options, build

    tracking, pairs = recording_of(folder, layout, points, inputs)
    options = Options(
        tasks=tuple(dict.fromkeys(tasks.split(","))) if tasks else tuple(TASKS),
        limit=limit,
        seed=seed,
        synthetic=synthetic,
        clips=clips,
        cut_views=cut_views,
        pairs=pairs,
        decisions=read_decisions(decisions) if decisions else {},
    )
    with counting("attempts") as advance:
        report = build(tracking, out, options, progress=advance, notice=lambda text: say(f"note: {text}"))
    if as_json:
        click.echo(json.dumps(report, indent=2, ensure_ascii=False))
        return
    published = report["published"]
    for task, counts in report["tasks"].items():
        click.echo(f"{counts['kept']} {task} ({counts['dropped']} dropped by rules)")
        if not counts["kept"] and report["reasons"][task]:
            click.echo(f"  {next(iter(report['reasons'][task]))}")
    click.echo(f"{published['in_review']} near a limit: {out / 'build' / 'review.ndjson'}")
    click.echo(f"{count(published['published'], 'question')}: {out}")


@generate.command()
@recording_options
@_OUT
@click.option("--tasks", help="Names of tasks, separated by commas; default all four.")
@click.option("--limit", type=Count, default=128, show_default=True, help="Number of questions, at most.")
@_SEED
@json_option
def overlaps(
    folder: Path,
    layout: str,
    points: Path | None,
    cut_views: bool,
    out: Path,
    tasks: str | None,
    limit: int,
    seed: int,
    as_json: bool,
    **inputs: Any,
) -> None:
    """Write questions about tracking in FOLDER that need cameras whose views overlap."""
    from gnomon_service.cli.common import say
    from gnomon_worlds.tracking.look import look_at
    from gnomon_worlds.tracking.overlapping import TASKS, build_overlaps

    if cut_views:
        raise SpecError("these questions need views that overlap", field="--cut-views")
    tracking, pairs = recording_of(folder, layout, points, inputs)
    report = build_overlaps(
        look_at(tracking, pairs),
        out,
        tasks=tasks.split(",") if tasks else tuple(TASKS),
        limit=limit,
        seed=seed,
        notice=lambda text: say(f"note: {text}"),
    )
    if as_json:
        click.echo(json.dumps(report, indent=2, ensure_ascii=False))
        return
    for task, number in report["tasks"].items():
        click.echo(f"{number} {task}")
        if task in report["reasons"]:
            click.echo(f"  {report['reasons'][task]}")
    click.echo(f"{count(report['questions'], 'question')}: {out}")


_ROWS = click.argument(
    "rows", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
_DATA = click.option(
    "--data",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="As in the job.",
)


@generate.command()
@_ROWS
@_DATA
@_OUT
def questions(rows: tuple[Path, ...], data: Path, out: Path) -> None:
    """Write the questions of an urbanvideo-authoring job (its rows.ndjson) as UrbanVideo-Bench does."""
    from gnomon_analyses.reviews.rows import read_result_rows
    from gnomon_published.benchmarks.urbanvideo_authoring.harvest import write_harvest

    answers = read_result_rows(rows, benchmark="urbanvideo-authoring")
    written = write_harvest(answers, data=data, out=out)
    click.echo(f"{count(written, 'question')} of {count(len(answers), 'answer')}: {out}")


@generate.command()
@_ROWS
@_DATA
@_OUT
@click.option("--arm", default="blind", show_default=True, help="The arm that was not shown the clip.")
def filtered(rows: tuple[Path, ...], data: Path, out: Path, arm: str) -> None:
    """Write the questions without those that every model answered blind (ROWS: rows.ndjson of such jobs)."""
    from gnomon_analyses.reviews.rows import read_result_rows
    from gnomon_published.blind_filter import judged, write_filtered

    results = read_result_rows(rows, arm=arm)
    verdict = judged(results)
    left = write_filtered(verdict, benchmark=results[0]["benchmark"], data=data, out=out)
    judged_count = len(verdict.dropped) + len(verdict.kept)
    models = len(verdict.models)
    click.echo(
        f"{len(verdict.dropped)} of {judged_count} dropped: all {models} models were right without looking"
    )
    click.echo(f"{len(verdict.unasked)} kept because a model gave no answer; {left} rows: {out}")
