"""Plan a trip and verify it, or check a plan."""

import asyncio
import json
import sys
from pathlib import Path
from typing import NoReturn

import click

from gnomon.core.errors import GnomonError
from gnomon_service.cli.main import DONE, INCOMPLETE


@click.command()
@click.argument("request", type=click.Path(path_type=Path), required=False)
@click.option(
    "--check",
    "plan",
    type=click.Path(path_type=Path),
    help="Check this plan (ours, or TravelPlanner's; .json or .jsonl) instead of making one.",
)
@click.option(
    "--request",
    "answered",
    type=click.Path(path_type=Path),
    help="The request that the plan of --check answers, if it is not in the same file.",
)
@click.option(
    "--out",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the trip: .json, .html, .md, .ics or .geojson. Repeatable.",
)
@click.option("--model", default="reference", show_default=True, help="The id of the model that plans.")
@click.option("--api-base", help="The model's endpoint.")
@click.option("--api-key-env", help="Name of the variable that holds the model's key.")
@click.option(
    "--change",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Instead of REQUEST: a plan, as --out FILE.json writes it, that is to change as little as it must.",
)
@click.option(
    "--lock", multiple=True, metavar="STOP", help="With --change: keep its day and times. Repeatable."
)
@click.option("--drop", multiple=True, metavar="STOP", help="With --change: leave it out. Repeatable.")
@click.option(
    "--late", multiple=True, metavar="DAY:MINUTES", help="With --change: that day begins so much later."
)
@click.option(
    "--rain", multiple=True, type=int, metavar="DAY", help="With --change: nothing outdoors on that day."
)
@click.option("--json", "as_json", is_flag=True, help="Plan and verification as one JSON document.")
def itinerary(
    request: Path | None,
    plan: Path | None,
    answered: Path | None,
    out: tuple[Path, ...],
    model: str,
    api_base: str | None,
    api_key_env: str | None,
    change: Path | None,
    lock: tuple[str, ...],
    drop: tuple[str, ...],
    late: tuple[str, ...],
    rain: tuple[int, ...],
    as_json: bool,
) -> None:
    """Plan the trip that REQUEST (JSON or YAML) describes, verify it, and print it; or --check a plan.

    Exit code 0: no check fails, or it is proven that no such trip exists; 1: a check fails. What no source
    can answer is printed as such.
    """
    if plan is not None:
        if request is not None or change is not None or out:
            raise click.UsageError("--check takes a plan, and its request with --request; nothing is planned")
        sys.exit(_check(plan, answered, as_json=as_json))
    if answered is not None or (request is None) == (change is None):
        raise click.UsageError(
            "give a REQUEST, a plan with --change, or one with --check [--request REQUEST]"
        )
    from gnomon.core.score import Outcome
    from gnomon.spec.spec_file import read_spec
    from gnomon_service.cli.common import settings_of
    from gnomon_service.jobs import draft_from_cli
    from gnomon_trips.export.outputs import ending_of, rendered
    from gnomon_trips.service.requests import ARM, SAMPLE, is_good, past_day, planned, spec_of
    from gnomon_workbench.dry_run import pick, run_once

    endings = [ending_of(str(file)) for file in out]
    if change is not None:
        _change(change, out, lock=lock, drop=drop, late=late, rain=rain, as_json=as_json)
    assert request is not None  # noqa: S101 (for the type checker: one of the two is given)
    named = {"id": model, "api_base": api_base, "api_key_env": api_key_env}
    spec = spec_of(read_spec(request), {key: value for key, value in named.items() if value is not None})
    job = draft_from_cli(spec, settings_of(None)).job
    selection = pick(job, sample_id=SAMPLE, arm=ARM, model=None)
    row, _ = asyncio.run(run_once(selection, watch=lambda _: None))
    if row.outcome is Outcome.INFRA_MISSING:
        raise GnomonError(f"no plan was made: {row.error or row.stop_reason}")
    result = planned(row)
    if words := past_day(result.request):
        click.echo(words, err=True)
    for file, ending in zip(out, endings, strict=True):
        file.write_bytes(rendered(result, ending))
        click.echo(f"{file}", err=True)
    click.echo(rendered(result, ".json" if as_json else ".md").decode(), nl=False)
    sys.exit(DONE if is_good(result, row.score) else INCOMPLETE)


def _check(file: Path, request: Path | None, *, as_json: bool) -> int:
    from gnomon.spec.spec_file import read_spec
    from gnomon_trips.export.plan_check import check_plan

    asked = None if request is None else read_spec(request)
    results = [check_plan(value, asked) for value in _plans_in(file)]
    if as_json:
        values = [result.as_json() for result in results]
        click.echo(json.dumps(values[0] if file.suffix != ".jsonl" else values, ensure_ascii=False, indent=1))
    elif file.suffix == ".jsonl":
        for number, result in enumerate(results, 1):
            failing = ", ".join(check.code for check in result.checks if check.state == "fails")
            click.echo(f"{number}: {result.words}" + (f": {failing}" if failing else ""))
    else:
        click.echo(results[0].as_text(), nl=False)
    return INCOMPLETE if any(result.count("fails") for result in results) else DONE


def _plans_in(file: Path) -> list[object]:
    """The plan of a file, or each of a file of JSON lines.

    Raises:
        SpecError: the file cannot be read, or a line is not JSON.
    """
    from gnomon.core.errors import SpecError
    from gnomon.spec.spec_file import read_spec

    if file.suffix != ".jsonl":
        return [read_spec(file)]
    values: list[object] = []
    try:
        with file.open(encoding="utf-8") as lines:
            values += [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        raise SpecError(f"{file} cannot be read: {error}", field="PLAN") from None
    if not values:
        raise SpecError(f"{file} holds no plan", field="PLAN")
    return values


def _change(
    file: Path,
    out: tuple[Path, ...],
    *,
    lock: tuple[str, ...],
    drop: tuple[str, ...],
    late: tuple[str, ...],
    rain: tuple[int, ...],
    as_json: bool,
) -> NoReturn:
    """Change a plan, print what differs and what that costs, and the new plan."""
    from pydantic import ValidationError

    from gnomon.core.errors import DataError, SpecError
    from gnomon.spec.spec_file import read_spec
    from gnomon_trips.benchmarks.itinerary.brief import request_task
    from gnomon_trips.benchmarks.itinerary.scoring import score
    from gnomon_trips.benchmarks.itinerary.task import Task
    from gnomon_trips.export.outputs import ending_of, rendered
    from gnomon_trips.export.result import result_of
    from gnomon_trips.itinerary.errors import BadArgument, PlaceError
    from gnomon_trips.itinerary.plan import Plan
    from gnomon_trips.itinerary.provider import answered
    from gnomon_trips.itinerary.replanning import Change, changed_plan
    from gnomon_trips.service.requests import is_good

    minutes: dict[int, int] = {}
    for entry in late:
        day, _, more = entry.partition(":")
        if not (day.isdigit() and more.isdigit()):
            raise click.UsageError(f"--late {entry}: must be DAY:MINUTES, such as 2:60")
        minutes[int(day)] = int(more)
    change = Change(lock=lock, drop=drop, late_min=minutes, rain=rain)
    record = read_spec(file)
    if not (isinstance(record, dict) and isinstance(record.get("request"), dict) and "plan" in record):
        raise SpecError("must be a plan as `gnomon itinerary --out trip.json` writes it", field="change")
    trip = request_task(record["request"]).trip
    try:
        old = Plan.model_validate(record["plan"])
        replanned = answered(changed_plan(old, trip, change), is_local=trip.provider.is_local)
    except (ValidationError, BadArgument) as error:
        raise SpecError(str(error), field="change") from None
    except PlaceError as error:
        raise DataError(f"{error.code}: {error}", field="change") from None
    task = Task(family="request", form="plan", trip=replanned.trip)
    scored = score(task, replanned.draft.model_dump_json(exclude_defaults=True))
    result = result_of(scored.answer)
    for path in out:
        path.write_bytes(rendered(result, ending_of(str(path))))
        click.echo(f"{path}", err=True)
    for line in replanned.differences or ("nothing changes",):
        click.echo(line, err=True)
    click.echo(f"{replanned.metres_more:+d} m, {replanned.minutes_more:+d} min", err=True)
    click.echo(rendered(result, ".json" if as_json else ".md").decode(), nl=False)
    sys.exit(DONE if is_good(result, scored.value) and replanned.is_whole else INCOMPLETE)
