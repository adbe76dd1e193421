"""Try the wordings of the sentence that asks for an answer on a model, and count its calls of tools."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from gnomon_service.cli.options import data_dir_option, json_option, out_option, workers_option

TOOLS = ("bearing", "distance")
REACH_M = 2_000
HOW_FAR = {"number": {"tolerance": 0.02, "relative": True, "unit": "m"}}
WHICH_WAY = {"angle": {"tolerance": 3}}
SCENE = {  # a plane, without anything on it: questions give their own coordinates
    "type": "FeatureCollection",
    "gnomon": {
        "format": 1,
        "id": "plane",
        "kind": "outdoor",
        "frame": {"lon_deg": 0.0, "lat_deg": 0.0, "anchored": False},
    },
    "features": [],
}


@click.command()
@click.argument("model")
@click.option("--api-base", help="Address of the model's endpoint; default the provider's own.")
@click.option("--api-key-env", help="Name of the variable that holds its key.")
@click.option(
    "--questions", default=12, show_default=True, type=click.IntRange(1, 1000), help="How many are asked."
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Seed of the questions.")
@out_option
@workers_option
@data_dir_option
@json_option
def wording(
    model: str,
    api_base: str | None,
    api_key_env: str | None,
    questions: int,
    seed: int,
    out: Path | None,
    workers: int | None,
    data_dir: Path | None,
    as_json: bool,
) -> None:
    """Ask MODEL generated questions of distances and bearings in every wording of the closing sentence, with
    tools and without, and report on how many it called a tool.
    """
    from gnomon_service.cli.common import checked_draft, prepare_out, run_and_report, settings_of

    settings = settings_of(data_dir)
    folder = settings.data_dir / "wording"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plane.geojson").write_text(json.dumps(SCENE), encoding="utf-8")
    file = folder / f"questions-{questions}-{seed}.jsonl"
    lines = (json.dumps(question) for question in _questions(questions, seed))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    entry: dict[str, Any] = {"id": model, "temperature": 0, "max_tokens": 500}
    entry |= {"api_base": api_base} if api_base else {}
    entry |= {"api_key_env": api_key_env} if api_key_env else {}
    arms = {"preset": "wording", "of": "closing", "tools_too": True, "tools": TOOLS, "max_tool_calls": 4}
    spec = {
        "name": f"wordings, {model}",
        "benchmark": "questions",
        "data": str(file),
        "models": [entry],
        "arms": arms,
        "concurrency": 4,
    }
    draft = checked_draft(spec, settings)
    prepare_out(out)
    run_and_report(draft, settings, out=out, as_document=as_json, workers=workers)


def _questions(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Questions with their answers, distances and bearings in turn, from metres on a plane."""
    from gnomon_tools.geometry.angles import bearing_deg

    drawn = random.Random(seed)
    for number in range(count):
        x, y, to_x, to_y = (drawn.randint(-REACH_M, REACH_M) for _ in range(4))
        points = f"the point x_m = {x}, y_m = {y} to the point x_m = {to_x}, y_m = {to_y}"
        asks_how_far = number % 2 == 0
        metres, degrees = ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5, bearing_deg((x, y), (to_x, to_y))
        yield {
            "id": f"q{number}",
            "question": f"How far is it in a straight line, in metres, from {points}?"
            if asks_how_far
            else f"In which direction is it, in degrees clockwise from north, from {points}?",
            "answer": f"{metres:.1f} m" if asks_how_far else f"{degrees:.1f}",
            "scorer": HOW_FAR if asks_how_far else WHICH_WAY,
            "scene": "plane.geojson",
        }
