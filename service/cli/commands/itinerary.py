"""Plan a trip and verify it."""

import asyncio
import sys
from pathlib import Path

import click

from gnomon.core.errors import GnomonError
from service.cli.main import DONE, INCOMPLETE


@click.command()
@click.argument("request", type=click.Path(path_type=Path))
@click.option(
    "--out",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the trip: .json, .html, .md, .ics or .geojson. Repeatable.",
)
@click.option("--model", default="reference", show_default=True, help="The id of the model that plans.")
@click.option("--api-base", help="The model's endpoint.")
@click.option("--api-key-env", help="Name of the variable that holds the model's key.")
@click.option("--json", "as_json", is_flag=True, help="Plan and verification as one JSON document.")
def itinerary(
    request: Path,
    out: tuple[Path, ...],
    model: str,
    api_base: str | None,
    api_key_env: str | None,
    as_json: bool,
) -> None:
    """Plan the trip that REQUEST (JSON or YAML) describes, verify it, and print it.

    Exit code 0: every check passes, or it is proven that no such trip exists; 1: a check fails.
    """
    from gnomon.core.score import Outcome
    from gnomon.itinerary_export.outputs import ending_of, rendered
    from gnomon.spec.spec_file import read_spec
    from service.cli.common import dry_runner, settings_of
    from service.itineraries import ARM, SAMPLE, is_good, planned, spec_of
    from service.jobs import draft_from_cli

    endings = [ending_of(str(file)) for file in out]
    named = {"id": model, "api_base": api_base, "api_key_env": api_key_env}
    spec = spec_of(read_spec(request), {key: value for key, value in named.items() if value is not None})
    job = draft_from_cli(spec, settings_of(None)).job
    runner = dry_runner()
    selection = runner.pick(job, sample_id=SAMPLE, arm=ARM, model=None)
    row, _ = asyncio.run(runner.run_once(selection, watch=lambda _: None))
    if row.outcome is Outcome.INFRA_MISSING:
        raise GnomonError(f"no plan was made: {row.stop_reason}")
    result = planned(row)
    for file, ending in zip(out, endings, strict=True):
        file.write_bytes(rendered(result, ending))
        click.echo(f"{file}", err=True)
    click.echo(rendered(result, ".json" if as_json else ".md").decode(), nl=False)
    sys.exit(DONE if is_good(result, row.score) else INCOMPLETE)
