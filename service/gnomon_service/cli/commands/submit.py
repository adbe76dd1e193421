"""Send a spec to a running service."""

import json
import sys
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

import click

from gnomon_service.cli.options import json_option


@click.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option(
    "--url",
    envvar="GNOMON_URL",
    default="http://127.0.0.1:8000",
    show_default=True,
    help="The service's address.",
)
@click.option("--wait", is_flag=True, help="Wait for the end and print the report.")
@json_option
def submit(spec: Path, url: str, wait: bool, as_json: bool) -> None:
    """Post SPEC to a running service; a key, if the service needs one, is read from GNOMON_API_KEY."""
    from gnomon.core.errors import SpecError
    from gnomon.report.text_formats import count
    from gnomon.spec.pasted_keys import refuse_keys
    from gnomon.spec.spec_file import read_spec
    from gnomon_service.cli.common import exit_code, naming_entry, say, say_never_read
    from gnomon_service.client import ApiError, Client

    fields = read_spec(spec)
    refuse_keys(fields)  # before it is sent
    try:
        client = Client(url)
    except SpecError as error:
        raise SpecError(error.message, field="--url") from None
    with client:
        try:
            posted = client.submit(fields)
        except ApiError as error:
            if error.field == "url":
                raise SpecError(error.message, field="--url") from None
            if error.response_status == HTTPStatus.UNAUTHORIZED:
                raise SpecError("needed: an API key of this service", field="GNOMON_API_KEY") from None
            raise naming_entry(error, fields) from None
        job_id = posted["id"]
        say(f"job {job_id}: {count(posted['planned_trials'], 'trial')}, {url}/v1/jobs/{job_id}")
        for warning in posted.get("warnings", ()):
            say(f"warning: {warning}")
        if not wait:
            click.echo(json.dumps(posted, indent=2) if as_json else job_id)
            return
        job = _wait_for_end(client, posted)
        _print(client.report(job_id), as_json=as_json)
    unread = [(alert["model"], alert["arm"]) for alert in job.get("alerts", ()) if alert["share"] == 1.0]
    if job["status"] == "completed":
        say_never_read(unread)
    sys.exit(exit_code(job["status"], missing=job["counts"]["infra_missing"], is_read=not unread))


def _wait_for_end(client: Any, posted: Mapping[str, Any]) -> dict[str, Any]:
    from gnomon.report.text_formats import count
    from gnomon_service.cli.common import say
    from gnomon_service.cli.progress import Counter

    announced: list[int] = []
    keys_said: set[tuple[str, str, str]] = set()
    with Counter("trials") as counter:

        def show(job: dict[str, Any]) -> None:
            counts = job["counts"]
            done = counts["scored"] + counts["model_failed"] + counts["infra_missing"]
            notes = [*job.get("waiting", ()), f"{counts['infra_missing']:,} missing"]
            counter.show(done, posted["planned_trials"], ", ".join(notes))
            for alert in job.get("alerts", ()):  # absent from older services
                key = alert["model"], alert["arm"], alert["kind"]
                if key not in keys_said:
                    keys_said.add(key)
                    counter.say(f"warning: {alert['text']}")
            if job["status"] == "cancelled" and counts["running"] and not announced:
                announced.append(counts["running"])
                say(f"stopping: {count(counts['running'], 'trial')} in workers’ hands")

        job: dict[str, Any] = client.wait(posted["id"], progress=show)
        return job


def _print(report: Any, *, as_json: bool) -> None:
    from gnomon.report.terminal import summary_text
    from gnomon_service.reports import as_json as encoded

    click.echo(encoded(report) if as_json else summary_text(report))
