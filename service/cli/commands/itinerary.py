"""Plan a trip and verify it."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from gnomon.errors import GnomonError
from service.cli.main import DONE, INCOMPLETE


@click.command()
@click.argument("request", type=click.Path(path_type=Path))
@click.option(
    "--out",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where the trip goes; .json, .html, .md, .ics or .geojson. May stand several times.",
)
@click.option("--model", default="reference", show_default=True, help="Who plans: a model's id.")
@click.option("--api-base", help="The model's endpoint.")
@click.option("--api-key-env", help="The variable that holds the model's key.")
@click.option("--json", "as_json", is_flag=True, help="Plan and verification as one JSON document.")
def itinerary(
    request: Path,
    out: tuple[Path, ...],
    model: str,
    api_base: str | None,
    api_key_env: str | None,
    as_json: bool,
) -> None:
    """Plan the trip asked for in REQUEST (JSON or YAML), verify it, and print it.

    Exit code 0: every check holds, or it is proven that there is no such trip; 1: the plan has faults.
    """
    from gnomon.spec_file import read_spec
    from gnomon.trips.outputs import ending_of, rendered
    from service.cli.opening import settings_of
    from service.itineraries import is_good, planned, spec_of
    from service.jobs import draft_typed

    endings = [ending_of(str(file)) for file in out]
    named = {"id": model, "api_base": api_base, "api_key_env": api_key_env}
    given = spec_of(read_spec(request), {key: value for key, value in named.items() if value is not None})
    spec = draft_typed(given, settings_of(None)).spec
    row = _tried(spec.model_dump(mode="json"))
    if row["outcome"] == "infra_missing":
        raise GnomonError(f"no plan was made: {row['stop_reason']}")
    result = planned(row)
    for file, ending in zip(out, endings, strict=True):
        file.write_bytes(rendered(result, ending))
        click.echo(f"{file}", err=True)
    click.echo(rendered(result, ".json" if as_json else ".md").decode(), nl=False)
    sys.exit(DONE if is_good(result, row["score"]) else INCOMPLETE)


def _tried(spec: dict[str, Any]) -> dict[str, Any]:
    """The row of the only trial, run in a process of its own: agents are not loaded here.

    Raises:
        GnomonError: the process ended without a row.
    """
    from service.itineraries import ARM, SAMPLE

    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(spec, file)
        file.flush()
        command = [sys.executable, "-m", "workers.preview", "try", "--spec", file.name, "--json"]
        command += ["--sample", SAMPLE, "--arm", ARM]
        done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603 (our own module)
    try:
        row: dict[str, Any] = json.loads(done.stdout)["row"]
    except ValueError:
        last = done.stderr.strip().splitlines()[-1:] or ["no word of why"]
        raise GnomonError(f"planning failed: {last[0]}") from None
    return row
